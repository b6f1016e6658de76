import Foundation
import Logging
import Model
import SQLite
import TestSupport
import Testing

@testable import Cache

/// Databases as the cleaning and `vitrine cache` find them: whole, empty, unfinished or damaged.
@Suite struct ClosedCacheTests {
    private let folder = TestFolder()
    private let address: Address

    init() throws { address = try Address("http://example.org/album/index.xml") }

    private var path: String { "cache/galleries/\(GalleryID(address))" }

    private func caches() throws -> CacheFolder { try CacheFolder(path: folder.path("cache"), log: Log()) }

    private func gallery() throws -> ClosedGalleryCache { try #require(try caches().gallery(address)) }

    /// Creates a closed cache of two photos.
    private func make() async throws {
        let cache = try caches().open(address)
        try await TestCache.sync(["a", "b"].map { try TestCache.entry($0) }, into: cache)
        await cache.writer.close()
    }

    @Test("A database that a process only began has no record and is not damaged")
    func begun() async throws {
        try await make()
        folder.write("\(path)/gallery.sqlite", "")
        #expect(try gallery().record == nil && gallery().trouble == nil && gallery().isEmpty)
        // The tables exist, and the gallery's row does not.
        try Connection(path: folder.path("\(path)/gallery.sqlite"), access: .readWrite).execute(
            "CREATE TABLE gallery (key INTEGER PRIMARY KEY); PRAGMA user_version = 1")
        #expect(try gallery().record == nil && gallery().trouble == nil)
    }

    @Test("A database with tables and without a version is damaged")
    func withoutVersion() async throws {
        try await make()
        try Connection(path: folder.path("\(path)/gallery.sqlite"), access: .readWrite).execute(
            "PRAGMA user_version = 0")
        let gallery = try gallery()
        guard case .database(.damaged)? = gallery.trouble else {
            Issue.record("\(String(describing: gallery.trouble))")
            return
        }
        #expect(gallery.record == nil && gallery.isOf(address) && !gallery.isEmpty)
        #expect(try !gallery.isOf(Address("http://example.org/other.xml")))
    }

    @Test("A database is read without its log only if the log is missing or empty")
    func frozen() async throws {
        try await make()
        let database = FrozenDatabase(path: folder.path("\(path)/gallery.sqlite"))
        #expect(database.isComplete && !database.isOnReadOnlyDisk)
        #expect(try !gallery().isEmpty)
        // The disk can be written to, so another process may write a log at any time.
        guard case .readOnly = database.access else {
            Issue.record("\(database.access)")
            return
        }
        #expect(try database.open(ChangeHub()) != nil)
        folder.write("\(path)/gallery.sqlite-wal", "")
        #expect(database.isComplete)
        folder.write("\(path)/gallery.sqlite-wal", "a log")
        #expect(!database.isComplete)
        #expect(try database.open(ChangeHub()) == nil)
        #expect(!FrozenDatabase(path: folder.path("nothing")).isComplete)
        #expect(!FrozenDatabase(path: folder.write("empty", "")).isComplete)
    }

    @Test("A frozen database of another version is not opened")
    func frozenOfAnotherVersion() async throws {
        try await make()
        let path = folder.path("\(path)/gallery.sqlite")
        try Connection(path: path, access: .readWrite).execute(
            "PRAGMA user_version = \(Schema.version - 1); PRAGMA wal_checkpoint(TRUNCATE)")
        #expect(try FrozenDatabase(path: path).open(ChangeHub()) == nil)
    }

    @Test("Thumbnails are removed in pieces of the asked size, and the photo's row knows it")
    func thumbnailsInPieces() async throws {
        try await make()
        do {
            let cache = try caches().open(address)
            for id in ["a", "b"] {
                let photo = try #require(try cache.read { try $0.photo(galleryID: id) })
                try await cache.writer.store(
                    thumbnail: [UInt8](repeating: 1, count: 100_000), of: photo.key, edition: photo.thumbnail.edition)
            }
            await cache.writer.close()
        }
        #expect(try gallery().canShrink && gallery().thumbnailsSize == 200_000)
        #expect(try gallery().dropThumbnails(1) == 1)
        #expect(try gallery().thumbnailsSize == 100_000)
        #expect(try gallery().dropThumbnails(5) == 1)
        #expect(try gallery().dropThumbnails(5) == 0)
        let before = try gallery().databaseSize
        try gallery().shrink()
        #expect(try gallery().databaseSize < before - 150_000 && !gallery().canShrink)
        let cache = try caches().open(address)
        for id in ["a", "b"] {
            #expect(try cache.read { try $0.photo(galleryID: id) }?.thumbnail.isWanting == true)
        }
    }

    @Test("Views that run for ever hang neither facts, errors nor cleaning", .ownThread, .unlessItHangs)
    func endlessViews() async throws {
        try await make()
        let numbers = "WITH RECURSIVE number (n) AS (VALUES (0) UNION ALL SELECT n + 1 FROM number)"
        try Connection(path: folder.path("\(path)/gallery.sqlite"), access: .readWrite).execute(
            """
            DROP TABLE photo;
            DROP TABLE thumbnail;
            -- The columns that the gallery's record needs take no time.
            CREATE VIEW photo AS
                SELECT 1 AS key, NULL AS revision, NULL AS library_part, NULL AS photo_trouble, NULL AS photo_reason,
                       (\(numbers) SELECT count(*) FROM number) AS thumbnail_trouble, NULL AS thumbnail_reason
                FROM gallery;
            CREATE VIEW thumbnail AS
                \(numbers) SELECT n AS photo, x'' AS data, NULL AS unproven FROM number WHERE n < 0;
            -- The database then has no free space.
            VACUUM;
            """)
        #expect(try gallery().record?.address == address)
        let patience: Duration = .milliseconds(200)
        #expect(try caches().facts(of: address, within: patience)?.errorCount == 0)
        #expect(try caches().failures(of: address, photoLimit: 10, within: patience) == nil)
        #expect(try !gallery().canShrink(within: patience))
        #expect(throws: SQLiteError.interrupted) { try gallery().dropThumbnails(5, within: patience) }
    }

    @Test("A table without an index does not hang the removal of photos")
    func rowsWithoutIndex() async throws {
        try await make()
        // Without an index, each statement visits all rows.
        try Connection(path: folder.path("\(path)/gallery.sqlite"), access: .readWrite).execute(
            """
            DROP TABLE photo;
            CREATE TABLE photo (
                key, revision, library_part, photo_file, photo_size, photo_digest, photo_held, photo_etag,
                photo_last_modified
            );
            INSERT INTO photo (key)
                WITH RECURSIVE number (n) AS (VALUES (0) UNION ALL SELECT n + 1 FROM number)
                SELECT n FROM number LIMIT 60000;
            """)
        folder.write("\(path)/photos/1-1-a", "a photo")
        let gallery = try gallery()
        #expect(throws: SQLiteError.interrupted) {
            try gallery.dropPhotos(["1-1-a"], within: .zero) { Issue.record("\($0)") }
        }
        #expect(folder.entries("\(path)/photos") == ["1-1-a"])
    }

    @Test("A database does not shrink into a folder behind a link")
    func shrinksBehindLink() async throws {
        try await make()
        let partial = folder.path("\(path)/partial")
        try FileManager.default.removeItem(atPath: partial)
        folder.write("elsewhere/a", "")
        try FileManager.default.createSymbolicLink(atPath: partial, withDestinationPath: folder.path("elsewhere"))
        #expect(throws: CacheError.self) { try gallery().shrink() }
        #expect(folder.entries("elsewhere") == ["a"])
    }

    @Test("Photos are removed by their files' names, and a missing folder changes nothing")
    func photosByName() async throws {
        try await make()
        do {
            let cache = try caches().open(address)
            for id in ["a", "b"] { try await TestCache.store(photo: "photo of \(id)", of: id, in: cache) }
            await cache.writer.close()
        }
        let names = try gallery().photosByAge().map(\.name)
        var failures: [CacheError] = []
        try gallery().dropPhotos([names[0], "no photo"]) { failures.append($0) }
        #expect(failures.isEmpty)
        #expect(folder.entries("\(path)/photos") == [names[1]])
        try FileManager.default.removeItem(atPath: folder.path("\(path)/photos"))
        try gallery().dropPhotos([names[1]]) { failures.append($0) }
        #expect(failures.isEmpty && !FileManager.default.fileExists(atPath: folder.path("\(path)/photos")))
    }

    @Test("The later of the lock's and the database's times says when a cache was last changed")
    func touched() async throws {
        try await make()
        for (lock, database) in [(1_000, 2_000), (4_000, 3_000)] {
            for (name, seconds) in [("lock", lock), ("gallery.sqlite", database)] {
                try FileManager.default.setAttributes(
                    [.modificationDate: Date(timeIntervalSince1970: Double(seconds))],
                    ofItemAtPath: folder.path("\(path)/\(name)"))
            }
            #expect(try gallery().touched == Timestamp(milliseconds: Int64(max(lock, database)) * 1_000))
        }
    }

    @Test("If a link has taken the place of a cache, nothing behind the link is removed")
    func link() async throws {
        try await make()
        let gallery = try gallery()
        try FileManager.default.moveItem(atPath: folder.path(path), toPath: folder.path("moved"))
        try FileManager.default.createSymbolicLink(
            atPath: folder.path(path), withDestinationPath: folder.path("moved"))
        let before = folder.entries("moved")
        #expect(throws: CacheError.self) { try gallery.remove() }
        #expect(folder.entries("moved") == before && before.contains("gallery.sqlite"))
    }

    @Test("A cache of any earlier version shows what that version knew", arguments: 1..<Schema.version)
    func earlierVersion(version: Int) throws {
        for name in ["photos", "partial"] { try PrivateFolder.make(folder.path("\(path)/\(name)")) }
        let connection = try Connection(path: folder.path("\(path)/gallery.sqlite"), access: .readWrite)
        try Schema.migrate(connection, through: version)
        try connection.run("INSERT INTO gallery (key, address, photo_count) VALUES (1, ?, 3)", address.text)
        if version >= 4 { try connection.execute("UPDATE gallery SET seen_through = 7") }
        if version >= 2 { try connection.execute("UPDATE gallery SET is_kept = 1") }
        if version >= 5 { try connection.execute("UPDATE gallery SET is_private = 1") }
        if version >= 6 { try connection.execute("UPDATE gallery SET was_public = 1") }
        if version >= 8 { try connection.execute("UPDATE gallery SET kind = 'webdav'") }
        let record = try #require(try gallery().record)
        #expect(record.address == address && record.photoCount == 3)
        #expect(record.seenThrough == (version >= 4 ? PhotoKey(7) : nil))
        #expect(record.isPrivate == (version >= 5 ? true : nil) && record.isKept == (version >= 2))
        #expect(record.wasPublic == (version >= 6) && record.kind == (version >= 8 ? .webDAV : nil))
    }
}

/// Photos in the user's own folder, which Vitrine reads in place.
@Suite struct PhotosInPlaceTests {
    private let folder = TestFolder()

    @Test("A file of the gallery's folder is read in place; links, other files and other schemes are not")
    func inPlace() throws {
        let own = folder.write("photos/own.jpg", "own")
        let elsewhere = folder.write("elsewhere.jpg", "elsewhere")
        try FileManager.default.createSymbolicLink(
            atPath: folder.path("photos/link.jpg"), withDestinationPath: elsewhere)
        let caches = try CacheFolder(path: folder.path("cache"), log: Log())
        let files = try caches.open(Address(filePath: folder.path("photos"))).files
        #expect(files.isInPlace(Address(filePath: own)))
        #expect(!files.isInPlace(Address(filePath: elsewhere)))
        #expect(!files.isInPlace(Address(filePath: folder.path("photos/link.jpg"))))
        #expect(!files.isInPlace(Address(filePath: folder.path("photos/missing.jpg"))))
        #expect(try !files.isInPlace(Address("http://example.org/own.jpg")))
        let remote = try caches.open(Address("http://example.org/")).files
        #expect(!remote.isInPlace(Address(filePath: own)))
    }

    @Test("A photo that stays in its folder counts as cached until its file changes, and is not removed")
    func stays() async throws {
        let path = folder.write("photos/own.jpg", "own")
        let cache = try CacheFolder(path: folder.path("cache"), log: Log()).open(
            Address(filePath: folder.path("photos")))
        var entry = try TestCache.entry("own.jpg", thumbnail: nil)
        entry.photo = Address(filePath: path)
        try await TestCache.sync([entry], into: cache)
        let key = try #require(try cache.read { try $0.photo(galleryID: "own.jpg") }).key
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        defer { close(descriptor) }
        let file = try #require(OriginalFile(descriptor))
        #expect(try await !cache.writer.store(original: file, of: key, edition: 2), "there is no such edition")
        #expect(try await cache.writer.store(original: file, of: key, edition: 1))
        #expect(try cache.read { try $0.photo(galleryID: "own.jpg") }?.isInPlace == true)
        #expect(try await cache.check().goodFiles == 1)
        folder.write("photos/own.jpg", "another")
        let check = try await cache.check()
        #expect(check.brokenFiles == 1 && check.goodFiles == 0)
        #expect(try cache.read { try $0.photo(galleryID: "own.jpg") }?.original.isWanting == true)
        #expect(folder.entries("photos") == ["own.jpg"])
    }

    @Test("Only an existing folder of this machine counts as one")
    func folders() throws {
        #expect(Address(filePath: folder.path).isLocalFolder)
        #expect(!Address(filePath: folder.write("file", "")).isLocalFolder)
        #expect(!Address(filePath: folder.path("missing")).isLocalFolder)
        #expect(try !Address("http://example.org/").isLocalFolder)
    }

    @Test("A photo of the user is a regular file, with a size and a stamp of its time")
    func originalFile() throws {
        let path = folder.write("own.jpg", "own")
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        defer { close(descriptor) }
        let file = try #require(OriginalFile(descriptor))
        #expect(file.size == 3)
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSince1970: 1_000)], ofItemAtPath: path)
        #expect(OriginalFile(descriptor)?.stamp == 1_000_000_000_000 && file.stamp > 1_000_000_000_000)
        let ends = try ChildProcess.makePipe()
        defer { for end in [ends.reading, ends.writing] { close(end) } }
        #expect(OriginalFile(ends.reading) == nil && OriginalFile(-1) == nil)
    }
}
