import Foundation
import Logging
import Model
import SQLite
import TestSupport
import Testing

@testable import Cache

/// Caches on a disk, and what is left of them.
@Suite struct CacheCleaningTests {
    private static let day: Int64 = 86_400_000
    let folder = TestFolder()
    let log = Log()
    /// Of the tests' own making: nothing here asks the system's clock.
    let now = Timestamp(milliseconds: 4_000_000_000_000)

    func address(_ name: String) throws -> Address { try Address("http://example.org/\(name).xml") }
    func path(_ name: String) throws -> String { "cache/galleries/\(GalleryID(try address(name)))" }
    func caches() throws -> CacheFolder { try CacheFolder(path: folder.path("cache"), log: log) }

    /// A gallery with so many photos, each of 1,000 bytes, and thumbnails of 8,000, that nobody uses any more.
    @discardableResult
    func make(
        _ name: String, opened daysAgo: Int64, photos: Int = 20, _ more: (GalleryCache) async throws -> Void = { _ in }
    ) async throws -> Int64 {
        let cache = try caches().open(address(name))
        let draft = try cache.beginSync()
        try draft.add((0..<photos).map { try TestCache.entry("\($0)", date: Int64($0) * 1_000) })
        _ = try await cache.writer.commit(
            draft.finish(), skipped: 0, validators: Validators(etag: "x"), at: Timestamp(milliseconds: 1))
        for index in 0..<photos {
            let key = try #require(try cache.read { try $0.photo(galleryID: "\(index)") }).key
            try await cache.writer.store(
                thumbnail: [UInt8](repeating: UInt8(index % 256), count: 8_000), of: key, edition: 1)
            let partial = try cache.files.makePartial()
            partial.write(String(repeating: "x", count: 1_000))
            try await cache.writer.store(photo: partial, of: key, edition: 1)
            var metadata = PhotoMetadata(format: "JPEG", width: 1, height: 1)
            metadata.camera = "Camera \(index)"
            try await cache.writer.store(metadata, of: key, edition: 1)
        }
        try await cache.writer.noteOpened(at: time(daysAgo))
        try await more(cache)
        await cache.writer.close()
        return try size(name)
    }

    func time(_ daysAgo: Int64) -> Timestamp { Timestamp(milliseconds: now.milliseconds - daysAgo * Self.day) }

    func size(_ name: String) throws -> Int64 {
        guard let gallery = try caches().gallery(address(name)) else { return 0 }
        return gallery.databaseSize + gallery.photosSize + gallery.setAsideSize
    }

    private func clean(limit: Int64?, remembered: [String]? = nil, _ folder: CacheFolder? = nil) async throws {
        let addresses = try remembered?.map { try address($0) }
        await CacheCleaning(try folder ?? caches(), limit: limit, remembered: addresses, now: now, log: log).run()
    }

    /// Thumbnails and photos that are here, and photos that are listed.
    func counts(_ name: String) throws -> [Int] {
        let cache = try caches().open(address(name))
        let counts = try cache.read { (try $0.counts(), try $0.gallery().photoCount) }
        return [counts.0.thumbnails, counts.0.photos, counts.1]
    }

    private func expectWell(_ name: String) async throws {
        let check = try await caches().open(address(name)).check()
        #expect(check.complaints.isEmpty && check.brokenFiles == 0 && check.orphans == 0 && check.brokenRows == 0)
        #expect(!check.isIndexMended)
    }

    @Test("BEHAVIOURS 4.2: beyond the set size photos of the least recently opened gallery go, and no more than needed")
    func photosGo() async throws {
        let old = try await make("old", opened: 10)
        let new = try await make("new", opened: 1)
        try await clean(limit: old + new)
        #expect(try size("old") == old && size("new") == new)
        try await clean(limit: old + new - 4_500)
        #expect(try counts("old") == [20, 15, 20] && counts("new") == [20, 20, 20])
        #expect(try folder.entries(path("old") + "/photos").count == 15)
        // The longest here went first, and what they said of themselves is still known.
        let cache = try caches().open(address("old"))
        for index in 0..<20 {
            let photo = try #require(try cache.read { try $0.photo(galleryID: "\(index)") })
            #expect((photo.photo.held == nil) == (index < 5) && photo.thumbnail.isCurrent)
            #expect(try cache.read { try $0.metadata(of: photo.key) }?.metadata.camera == "Camera \(index)")
        }
        try await expectWell("old")
    }

    @Test("BEHAVIOURS 4.2: then its thumbnails go, the database becomes smaller, and the list stays")
    func thumbnailsGo() async throws {
        let old = try await make("old", opened: 10, photos: 60)
        let new = try await make("new", opened: 1)
        try await clean(limit: new + 300_000)
        #expect(try counts("old") == [0, 0, 60] && counts("new") == [20, 20, 20])
        let rest = try size("old")
        #expect(rest < 300_000 && old > 500_000, "\(old) became \(rest)")
        try await expectWell("old")
        // It is a cache like any other: it is filled again, and what it is searched by is there.
        let cache = try caches().open(address("old"))
        #expect(!cache.wasSetAside)
        let found = try cache.read { reader in
            try reader.connection.map("SELECT rowid FROM photo_text WHERE photo_text MATCH 'camera 41'") { $0.int(0) }
        }
        #expect(found.count == 1)
        let photo = try #require(try cache.read { try $0.photo(galleryID: "41") })
        #expect(photo.thumbnail.isWanting && photo.photo.isWanting && photo.key.rawValue == found[0])
        #expect(try await cache.writer.store(thumbnail: [1], of: photo.key, edition: photo.thumbnail.edition))
        #expect(try cache.read { try $0.gallery().validators.etag } == "x")
        for case let file as String in try #require(FileManager.default.enumerator(atPath: folder.path("cache"))) {
            let attributes = try FileManager.default.attributesOfItem(atPath: folder.path("cache/\(file)"))
            #expect((attributes[.posixPermissions] as? Int ?? 0) & 0o077 == 0, "\(file)")
        }
    }

    @Test("BEHAVIOURS 4.2: never what is open, in this process or in another, nor what is to be kept")
    func othersStay() async throws {
        try await make("kept", opened: 50) { try await $0.writer.toggleKept() }
        try await make("here", opened: 40)
        try await make("elsewhere", opened: 30)
        let own = try caches()
        let here = try own.open(address("here"))
        let elsewhere = try caches().open(address("elsewhere"))
        let before = try ["kept", "here", "elsewhere"].map { try size($0) }
        try await clean(limit: 0, own)
        #expect(try ["kept", "here", "elsewhere"].map { try size($0) } == before)
        withExtendedLifetime((here, elsewhere)) {}
    }

    @Test func aMarkThatIsTakenAwayKeepsNothing() async throws {
        try await make("once", opened: 50) {
            try await $0.writer.toggleKept()
            try await $0.writer.toggleKept()
        }
        #expect(try caches().record(of: address("once"))?.isKept == false)
        try await clean(limit: 0)
        #expect(try size("once") == 0)
    }

    @Test("BEHAVIOURS 4.2: abandoned caches go")
    func abandonedGo() async throws {
        try await make("remembered", opened: 400)
        try await make("forgotten", opened: 91)
        try await make("recent", opened: 89)
        // It is not known what is remembered: then nothing is forgotten.
        try await clean(limit: nil)
        #expect(try size("forgotten") > 0)
        try await clean(limit: nil, remembered: ["remembered"])
        #expect(try size("forgotten") == 0 && size("remembered") > 0 && size("recent") > 0)
        #expect(try counts("remembered") == [20, 20, 20])
    }

    @Test func whatWasSetAsideGoesInTime() async throws {
        try await make("a", opened: 1)
        for daysAgo: Int64 in [31, 29] {
            folder.write("\(try path("a"))/gallery.sqlite.damaged-\(time(daysAgo).milliseconds)", "damaged")
            folder.write("\(try path("a"))/gallery.sqlite.damaged-\(time(daysAgo).milliseconds)-wal", "damaged")
        }
        try await clean(limit: nil)
        let names = { try folder.entries(path("a")).filter { $0.contains("damaged") } }
        #expect(try names().count == 2 && names().allSatisfy { $0.contains("\(time(29).milliseconds)") })
        let whole = try size("a")
        try await clean(limit: whole - 1)
        #expect(try names().count == 1)
        #expect(try counts("a") == [20, 20, 20])
    }

    /// A folder where a file should be cannot be unlinked. It is said, and the others go.
    @Test("BEHAVIOURS 4.2: what cannot be removed is said in the log, and the next goes")
    func oneThatCannotGo() async throws {
        try await make("old", opened: 10)
        let new = try await make("new", opened: 1)
        folder.write("\(try path("old"))/photos/1-1-folder/file", "x")
        try await clean(limit: new)
        #expect(try counts("old") == [0, 0, 20] && counts("new")[1] < 20)
        #expect(log.entries.contains { $0.level == .error && $0.message.contains("1-1-folder cannot be removed") })
        try await expectWell("new")
    }

    @Test func halfMadeAndDamagedCachesGoWholeOrStay() async throws {
        folder.write("cache/galleries/0123456789abcdef/lock", "")
        folder.write("cache/galleries/no cache of ours/file", "x")
        try await make("damaged", opened: 1)
        folder.write("\(try path("damaged"))/gallery.sqlite", "no database at all")
        try await make("newer", opened: 500)
        let newer = folder.path("\(try path("newer"))/gallery.sqlite")
        try Connection(path: newer, access: .readWrite).execute("PRAGMA user_version = 999")
        try await clean(limit: 0)
        let rest = try ["\(GalleryID(address("newer")))", "\(GalleryID(address("damaged")))", "no cache of ours"]
        #expect(folder.entries("cache/galleries").sorted() == rest.sorted())
        #expect(try size("newer") > 0 && folder.entries(path("damaged") + "/photos").count == 20)
    }

    /// A link in the photos' place leads to what is not ours.
    @Test func linksAreNotFollowed() async throws {
        try await make("a", opened: 10)
        let precious = folder.write("elsewhere/1-1-precious", "precious")
        let photos = folder.path("\(try path("a"))/photos")
        try FileManager.default.removeItem(atPath: photos)
        try FileManager.default.createSymbolicLink(atPath: photos, withDestinationPath: folder.path("elsewhere"))
        try await clean(limit: 0)
        #expect(FileManager.default.fileExists(atPath: precious))
    }

    /// Made by an older Vitrine and not opened since: it is looked at, and taken from, as it is.
    @Test func cachesOfAnOlderVitrineAreCleanedToo() async throws {
        let folder = try path("old")
        try PrivateFolder.make(self.folder.path(folder) + "/photos")
        try PrivateFolder.make(self.folder.path(folder) + "/partial")
        let database = self.folder.path(folder) + "/gallery.sqlite"
        do {
            let connection = try Connection(path: database, access: .readWrite)
            try Schema.migrate(connection, through: 1)
            try connection.execute(
                """
                INSERT INTO gallery (key, address, photo_count) VALUES (1, '\(try address("old").text)', 1);
                INSERT INTO photo (id, name, name_key, date, photo_address, photo_held, photo_file, thumbnail_held)
                VALUES ('a', 'A', X'61', 1000, 'http://example.org/a.jpg', 1, '1-1-x', 1);
                INSERT INTO thumbnail (photo, data) VALUES (1, zeroblob(500000));
                """)
        }
        self.folder.write(folder + "/photos/1-1-x", "photo")
        let record = try #require(try caches().record(of: address("old")))
        #expect(!record.isKept && record.photoCount == 1)
        try await clean(limit: 400_000)
        #expect(try size("old") < 400_000)
        #expect(try caches().record(of: address("old")) == record)
        let connection = try Connection(path: database, access: .readOnly)
        #expect(try Schema.version(of: connection) == 1)
        #expect(try counts("old") == [0, 0, 1])
    }

    /// Somebody opens a gallery while its database is being copied: it stays as it is, and whole.
    @Test func aDatabaseThatIsOpenedMeanwhileIsNotReplaced() async throws {
        try await make("a", opened: 10)
        let gallery = try #require(try caches().gallery(address("a")))
        #expect(try gallery.dropThumbnails(100) == 20)
        let before = gallery.databaseSize
        let cache = try caches().open(address("a"))
        #expect(throws: CacheError.locked(path: gallery.folder)) { try gallery.shrink() }
        #expect(throws: CacheError.locked(path: gallery.folder)) { _ = try gallery.dropThumbnails(1) }
        #expect(throws: CacheError.locked(path: gallery.folder)) { try gallery.dropPhotos(["1-1-x"]) { _ in } }
        try await cache.writer.noteOpened(at: now)
        #expect(try cache.read { try $0.gallery().lastOpened } == now)
        #expect(try gallery.databaseSize >= before && folder.entries(path("a") + "/partial").isEmpty)
        try await expectWell("a")
    }

    /// Who opens a gallery in the moment of a step waits for its end, and does not fail.
    @Test(.timeLimit(.minutes(1))) func openingWaitsForAStep() async throws {
        try await make("a", opened: 10)
        let path = try folder.path(path("a"))
        let lock = try #require(try CacheLock.take(folder: path, .exclusive))
        #expect(try CacheLock.take(folder: path, .shared) == nil)
        let isHeld = Gate()
        Thread.detachNewThread {
            if (try? CacheLock.take(folder: path, .shared, patience: 3_000)) != nil { isHeld.open() }
        }
        // Two have the lock's file open: the other is there, and waits.
        while try descriptors(of: path + "/lock") < 2 { await Task.yield() }
        _ = consume lock
        #expect(isHeld.wait())
    }

    private func descriptors(of path: String) throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count {
            (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")) == path
        }
    }

    /// Ended in the middle, by a kill or by quitting: what is left is a cache, and the next run goes on.
    @Test func whatWasBegunIsFinishedTheNextTime() async throws {
        try await make("a", opened: 10, photos: 60)
        let gallery = try #require(try caches().gallery(address("a")))
        try gallery.dropPhotos(gallery.photosByAge().prefix(30).map(\.name)) { _ in }
        _ = try gallery.dropThumbnails(60)
        let left = folder.write("\(try path("a"))/partial/copy", "half of a copy")
        try await clean(limit: 300_000)
        #expect(try size("a") < 300_000)
        #expect(!FileManager.default.fileExists(atPath: left))
        try await expectWell("a")
    }

    /// As a database is left by who ended in the middle of a change before it had a log, or of giving it one.
    @Test("BEHAVIOURS 4.4: what was begun and not done is undone, also where a cache is only looked at")
    func whatEndedInTheMiddleIsReadAllTheSame() async throws {
        try await make("a", opened: 10)
        let path = folder.path("\(try path("a"))/gallery.sqlite")
        let original = folder.path("original")
        try FileManager.default.copyItem(atPath: path, toPath: original)
        let connection = try Connection(path: original, access: .readWrite)
        // So little room in memory that half of it is on the disk before it is done.
        try connection.execute(
            """
            PRAGMA journal_mode = DELETE; PRAGMA cache_size = 1; BEGIN;
            UPDATE gallery SET photo_count = 77; UPDATE thumbnail SET data = zeroblob(8000);
            UPDATE photo SET name = 'Nobody';
            """)
        for (suffix, source) in [("", original), ("-journal", original + "-journal")] {
            try? FileManager.default.removeItem(atPath: path + suffix)
            try FileManager.default.copyItem(atPath: source, toPath: path + suffix)
        }
        try connection.execute("ROLLBACK")
        #expect(throws: SQLiteError.self) {
            _ = try Connection(path: path, access: .readOnly).first("SELECT 1 FROM gallery") { _ in true }
        }
        let gallery = try #require(try caches().gallery(address("a")))
        #expect(gallery.trouble == nil && gallery.record?.photoCount == 20)
        try await expectWell("a")
    }

    @Test func cancelledItDoesNothingMore() async throws {
        let whole = try await make("a", opened: 10)
        let cleaning = CacheCleaning(try caches(), limit: 0, remembered: nil, now: now, log: log)
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            await cleaning.run()
        }
        await task.value
        #expect(try size("a") == whole)
    }
}
