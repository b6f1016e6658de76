import Foundation
import Logging
import Model
import SQLite
import TestSupport
import Testing

@testable import Cache

/// Caches on a disk, before and after cleaning.
@Suite struct CacheCleaningTests {
    private static let day: Int64 = 86_400_000
    private let folder = TestFolder()
    private let log = Log()
    /// A fixed time, so that the tests do not depend on the clock.
    private let now = Timestamp(milliseconds: 4_000_000_000_000)

    private func address(_ name: String) throws -> Address { try Address("http://example.org/\(name).xml") }
    private func path(_ name: String) throws -> String { "cache/galleries/\(GalleryID(try address(name)))" }
    private func caches() throws -> CacheFolder { try CacheFolder(path: folder.path("cache"), log: log) }

    /// Creates a closed gallery with photos of 1,000 bytes and thumbnails of 8,000.
    @discardableResult
    private func make(
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
            let partial = try cache.files.makePartial(of: key, edition: 1)
            partial.write(String(repeating: "x", count: 1_000))
            try await cache.writer.store(photo: partial, of: key, edition: 1)
            var metadata = PhotoMetadata(format: "JPEG", width: 1, height: 1)
            metadata.camera = "Camera \(index)"
            try await cache.writer.store(metadata, of: key, edition: 1)
        }
        try await cache.writer.recordOpened(at: time(daysAgo))
        try await more(cache)
        await cache.writer.close()
        return try size(name)
    }

    private func time(_ daysAgo: Int64) -> Timestamp { Timestamp(milliseconds: now.milliseconds - daysAgo * Self.day) }

    private func size(_ name: String) throws -> Int64 {
        guard let gallery = try caches().gallery(address(name)) else { return 0 }
        return gallery.databaseSize + gallery.photosSize + gallery.setAsideSize
    }

    private func clean(limit: Int64?, remembered: [String]? = nil, _ folder: CacheFolder? = nil) async throws {
        let addresses = try remembered?.map { try address($0) }
        await CacheCleaning(try folder ?? caches(), limit: limit, remembered: addresses, now: now, log: log).run()
    }

    /// The numbers of cached thumbnails, cached photos and listed photos.
    private func counts(_ name: String) throws -> [Int] {
        let cache = try caches().open(address(name))
        let counts = try cache.read { (try $0.counts(), try $0.gallery().photoCount) }
        return [counts.0.thumbnails, counts.0.photos, counts.1]
    }

    private func expectWell(_ name: String) async throws {
        let check = try await caches().open(address(name)).check()
        #expect(check.complaints.isEmpty && check.brokenFiles == 0 && check.orphans == 0 && check.brokenRows == 0)
        #expect(!check.isIndexRepaired)
    }

    @Test("BEHAVIOURS 4.2: over the limit the least recently opened gallery loses photos, and no more than needed")
    func photosGo() async throws {
        let old = try await make("old", opened: 10)
        let new = try await make("new", opened: 1)
        try await clean(limit: old + new)
        #expect(try size("old") == old && size("new") == new)
        try await clean(limit: old + new - 2_000)
        #expect(try counts("old") == [20, 18, 20] && counts("new") == [20, 20, 20])
        try await clean(limit: old + new - 4_500)
        #expect(try counts("old") == [20, 15, 20] && counts("new") == [20, 20, 20])
        #expect(try folder.entries(path("old") + "/photos").count == 15)
        // The oldest photos went, and their metadata is still there.
        let cache = try caches().open(address("old"))
        for index in 0..<20 {
            let photo = try #require(try cache.read { try $0.photo(galleryID: "\(index)") })
            #expect((photo.original.held == nil) == (index < 5) && photo.thumbnail.isCurrent)
            #expect(try cache.read { try $0.metadata(of: photo.key) }?.metadata.camera == "Camera \(index)")
        }
        try await expectWell("old")
    }

    @Test("BEHAVIOURS 4.2: then it loses its thumbnails, its database shrinks, and its list stays")
    func thumbnailsGo() async throws {
        let old = try await make("old", opened: 10, photos: 60)
        let new = try await make("new", opened: 1)
        try await clean(limit: new + 300_000)
        #expect(try counts("old") == [0, 0, 60] && counts("new") == [20, 20, 20])
        let rest = try size("old")
        #expect(rest < 300_000 && old > 500_000, "\(old) became \(rest)")
        try await expectWell("old")
        // The cache still works: it can be filled and searched.
        let cache = try caches().open(address("old"))
        #expect(!cache.wasSetAside)
        let found = try cache.read { reader in
            try reader.connection.map("SELECT rowid FROM photo_text WHERE photo_text MATCH 'camera 41'") { $0.int(0) }
        }
        #expect(found.count == 1)
        let photo = try #require(try cache.read { try $0.photo(galleryID: "41") })
        #expect(photo.thumbnail.isWanting && photo.original.isWanting && photo.key.rawValue == found[0])
        #expect(try await cache.writer.store(thumbnail: [1], of: photo.key, edition: photo.thumbnail.edition))
        #expect(try cache.read { try $0.gallery().validators.etag } == "x")
        for case let file as String in try #require(FileManager.default.enumerator(atPath: folder.path("cache"))) {
            let attributes = try FileManager.default.attributesOfItem(atPath: folder.path("cache/\(file)"))
            #expect((attributes[.posixPermissions] as? Int ?? 0) & 0o077 == 0, "\(file)")
        }
    }

    @Test(
        "BEHAVIOURS 4.2: caches open in another process or marked to be kept stay; one open here keeps its list")
    func othersStay() async throws {
        try await make("kept", opened: 50) { try await $0.writer.toggleKept() }
        try await make("here", opened: 40)
        try await make("elsewhere", opened: 30)
        let own = try caches()
        let here = try own.open(address("here"))
        let elsewhere = try caches().open(address("elsewhere"))
        let before = try ["kept", "elsewhere"].map { try size($0) }
        try await clean(limit: 0, own)
        #expect(try ["kept", "elsewhere"].map { try size($0) } == before)
        let counts = try here.read { try $0.counts() }
        #expect(counts.photos == 0 && counts.thumbnails == 0)
        #expect(try here.read { try $0.gallery() }.photoCount == 20)
        withExtendedLifetime((here, elsewhere)) {}
    }

    @Test func removingTheMarkEndsTheProtection() async throws {
        try await make("once", opened: 50) {
            try await $0.writer.toggleKept()
            try await $0.writer.toggleKept()
        }
        #expect(try caches().record(of: address("once"))?.isKept == false)
        try await clean(limit: 0)
        #expect(try size("once") == 0)
    }

    @Test("BEHAVIOURS 4.2: abandoned caches are removed")
    func abandonedGo() async throws {
        try await make("remembered", opened: 400)
        try await make("forgotten", opened: 91)
        try await make("recent", opened: 89)
        // Without a list of remembered galleries none counts as abandoned.
        try await clean(limit: nil)
        #expect(try size("forgotten") > 0)
        try await clean(limit: nil, remembered: ["remembered"])
        #expect(try size("forgotten") == 0 && size("remembered") > 0 && size("recent") > 0)
        #expect(try counts("remembered") == [20, 20, 20])
    }

    @Test("Of lists that exceed the limit, no more are removed than needed")
    func listsGo() async throws {
        try await make("old", opened: 50, photos: 0)
        let middle = try await make("middle", opened: 40, photos: 0)
        let new = try await make("new", opened: 30, photos: 0)
        try await clean(limit: middle + new, remembered: [])
        #expect(try size("old") == 0 && size("middle") == middle && size("new") == new)
    }

    @Test func databasesSetAsideAreRemovedInTime() async throws {
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

    /// A folder in place of a file cannot be unlinked.
    @Test("BEHAVIOURS 4.2: a file that cannot be removed is logged, and the next one is removed")
    func oneThatCannotGo() async throws {
        try await make("old", opened: 10)
        let new = try await make("new", opened: 1)
        folder.write("\(try path("old"))/photos/1-1-folder/file", "x")
        try await clean(limit: new)
        #expect(try counts("old") == [0, 0, 20] && counts("new")[1] < 20)
        #expect(log.entries.contains { $0.level == .error && $0.message.contains("1-1-folder cannot be removed") })
        try await expectWell("new")
    }

    /// The folder takes more than a quarter of the limit.
    @Test("BEHAVIOURS 4.2: a large file that cannot be removed is not tried again and again", .unlessItHangs)
    func largeOneThatCannotGo() async throws {
        try await make("old", opened: 10, photos: 1)
        folder.write("\(try path("old"))/photos/1-1-folder/file", "x")
        try await clean(limit: 8_000)
        #expect((1...3).contains(log.entries.count { $0.message.contains("1-1-folder cannot be removed") }))
    }

    @Test("BEHAVIOURS 4.2: a database set aside that cannot be removed is logged once, and photos go in its place")
    func setAsideThatCannotGo() async throws {
        try await make("a", opened: 1)
        let name = "gallery.sqlite.damaged-\(time(31).milliseconds)"
        folder.write("\(try path("a"))/\(name)/file", "x")
        let whole = try size("a")
        try await clean(limit: whole - 2_500)
        #expect(try counts("a") == [20, 17, 20])
        #expect(log.entries.count { $0.level == .error && $0.message.contains("\(name) cannot be removed") } == 1)
    }

    @Test func cancellationStopsTheCleaning() async throws {
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

/// Files that are larger than a quarter of the limit.
extension CacheCleaningTests {
    private static let limit: Int64 = 2_000_000

    /// Stores a file of 3 MB as a photo.
    private func storeLarge(_ cache: GalleryCache) async throws {
        let key = try #require(try cache.read { try $0.photo(galleryID: "7") }).key
        let partial = try cache.files.makePartial(of: key, edition: 1)
        partial.write(String(repeating: "x", count: 3_000_000))
        try await cache.writer.store(photo: partial, of: key, edition: 1)
    }

    @Test(
        "BEHAVIOURS 4.2: a large file that is wanted, or in use elsewhere, costs other galleries nothing",
        arguments: 0..<3)
    func largeFilesThatStay(place: Int) async throws {
        let old = try await make("old", opened: 50)
        try await make("film", opened: 40) { cache in
            try await storeLarge(cache)
            if place == 2 { try await cache.writer.toggleKept() }
        }
        let own = try caches()
        let open = place < 2 ? try (place == 0 ? own : caches()).open(address("film")) : nil
        let wished = try open.map { cache in try #require(try cache.read { try $0.photo(galleryID: "7") }).key }
        await CacheCleaning(
            own, limit: Self.limit, remembered: nil, wished: { _ in Set([wished].compactMap { $0 }) }, now: now,
            log: log
        ).run(forBulkFetches: true)
        #expect(try size("old") == old && size("film") > 3_000_000)
        withExtendedLifetime(open) {}
        #expect(try counts("film") == [20, 20, 20] && counts("old") == [20, 20, 20])
    }

    @Test("Before many pictures are fetched, closed caches make space early, and keep their lists")
    func spaceForMany() async throws {
        let limit = try await make("old", opened: 50, photos: 40) + make("new", opened: 1, photos: 40)
        let cleaning = CacheCleaning(try caches(), limit: limit, remembered: [], now: now, log: log)
        await cleaning.run(forBulkFetches: true)
        #expect(try size("old") + size("new") <= limit * 85 / 100)
        #expect(try counts("old")[2] == 40 && counts("new") == [40, 40, 40])
    }

    @Test("If only lists are left, none is removed for the sake of many pictures")
    func listsForMany() async throws {
        let sizes = try await [make("old", opened: 50, photos: 0), make("new", opened: 1, photos: 0)]
        let limit = sizes[0] + sizes[1]
        let cleaning = CacheCleaning(try caches(), limit: limit, remembered: [], now: now, log: log)
        await cleaning.run(forBulkFetches: true)
        #expect(try [size("old"), size("new")] == sizes)
    }

    @Test("BEHAVIOURS 4.2: a large file that is not wanted goes, and nothing else", arguments: [true, false])
    func largeFilesGo(isOpen: Bool) async throws {
        let old = try await make("old", opened: 50)
        try await make("film", opened: 1, storeLarge)
        let own = try caches()
        let open = isOpen ? try own.open(address("film")) : nil
        try await clean(limit: Self.limit, own)
        withExtendedLifetime(open) {}
        #expect(try size("old") == old && size("film") < 1_000_000)
        #expect(try counts("film") == [20, 19, 20] && counts("old") == [20, 20, 20])
    }

    @Test("BEHAVIOURS 4.2: the list of a closed gallery stays, whatever wanted pictures an open gallery has")
    func listsStay() async throws {
        try await make("old", opened: 50)
        try await make("here", opened: 1, photos: 200)
        let own = try caches()
        let here = try own.open(address("here"))
        var keys: Set<PhotoKey> = []
        try here.read { try $0.forEachPhoto { keys.insert($0.key) } }
        let lists = try here.read { try $0.usedBytes() }
        await CacheCleaning(
            own, limit: lists + 150_000, remembered: nil, wished: { [keys] _ in keys }, now: now, log: log
        ).run()
        #expect(try counts("old") == [0, 0, 20])
        let kept = try here.read { try $0.counts() }
        #expect(kept.photos == 200 && kept.thumbnails == 200)
    }
}

/// Galleries that are opened or changed during the cleaning.
extension CacheCleaningTests {
    /// A gallery is used while others are cleaned, and closed before its turn.
    @Test(
        "BEHAVIOURS 4.2: a gallery marked, opened or filled while others are cleaned stays as it was",
        arguments: 0..<3)
    func galleriesUsedMeanwhileStay(what: Int) async throws {
        // The first two are over the limit; the third is removed whole.
        try await make("a", opened: 91, photos: 2)
        let (limit, remembered): (Int64?, [Address]?) = what < 2 ? (0, nil) : (nil, [])
        let cleaning = CacheCleaning(try caches(), limit: limit, remembered: remembered, now: now, log: log)
        await cleaning.countCaches()
        do {
            let cache = try caches().open(address("a"))
            switch what {
            case 0: try await cache.writer.toggleKept()
            case 1: try await cache.writer.recordOpened(at: time(0))
            default:
                _ = try await cache.writer.commit(
                    cache.beginSync().finish(), skipped: 0, validators: Validators(), at: time(1))
            }
            await cache.writer.close()
        }
        await cleaning.clean()
        #expect(try size("a") > 0)
        if what < 2 { #expect(try counts("a") == [2, 2, 2]) }
        #expect(log.entries.allSatisfy { $0.level != .error })
    }

    /// The same, between two steps that remove photos of one gallery.
    @Test(arguments: [true, false]) func galleriesUsedBetweenTwoStepsStay(isKept: Bool) async throws {
        try await make("a", opened: 10)
        let gallery = try #require(try caches().gallery(address("a")))
        try gallery.dropPhotos(gallery.photosByAge().prefix(3).map(\.name)) { _ in }
        do {
            let cache = try caches().open(address("a"))
            if isKept { try await cache.writer.toggleKept() } else { try await cache.writer.recordOpened(at: now) }
            await cache.writer.close()
        }
        let refused = CacheError.locked(path: gallery.folder)
        #expect(throws: refused) { try gallery.dropPhotos(gallery.photosByAge().map(\.name)) { _ in } }
        #expect(throws: refused) { _ = try gallery.dropThumbnails(1) }
        #expect(throws: refused) { try gallery.shrink() }
        #expect(throws: refused) { try gallery.removeIfUnused() }
        #expect(try counts("a") == [20, 17, 20])
        // Removing a cache by name ignores the mark.
        try gallery.remove()
        #expect(try size("a") == 0)
    }

    /// A gallery is opened while its database is copied.
    @Test("A database opened while it is copied is not replaced") func databaseOpenedDuringCopy() async throws {
        try await make("a", opened: 10)
        let gallery = try #require(try caches().gallery(address("a")))
        #expect(try gallery.dropThumbnails(100) == 20)
        let before = gallery.databaseSize
        let cache = try caches().open(address("a"))
        #expect(throws: CacheError.locked(path: gallery.folder)) { try gallery.shrink() }
        #expect(throws: CacheError.locked(path: gallery.folder)) { _ = try gallery.dropThumbnails(1) }
        #expect(throws: CacheError.locked(path: gallery.folder)) { try gallery.dropPhotos(["1-1-x"]) { _ in } }
        try await cache.writer.recordOpened(at: now)
        #expect(try cache.read { try $0.gallery().lastOpened } == now)
        #expect(try gallery.databaseSize >= before && folder.entries(path("a") + "/partial").isEmpty)
        try await expectWell("a")
    }

    /// The opening waits for the end of the step and does not fail.
    @Test("Opening a gallery waits for a step of the cleaning", .unlessItHangs) func openingWaits() async throws {
        try await make("a", opened: 10)
        let path = try folder.path(path("a"))
        let lock = try #require(try CacheLock.take(folder: path, .exclusive))
        #expect(try CacheLock.take(folder: path, .shared) == nil)
        let isHeld = Gate()
        Thread.detachNewThread {
            if (try? CacheLock.take(folder: path, .shared, patience: 3_000)) != nil { isHeld.open() }
        }
        // Two descriptors of the lock file mean that the other side waits.
        while try descriptors(of: path + "/lock") < 2 { await Task.yield() }
        _ = consume lock
        #expect(isHeld.wait())
    }

    private func descriptors(of path: String) throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count {
            (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")) == path
        }
    }
}

/// Leftovers of older versions, of interrupted runs, and of other programs.
extension CacheCleaningTests {
    @Test func unfinishedAndDamagedCachesAreRemovedWholeOrStay() async throws {
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

    /// A link in place of the photos' folder leads to foreign files.
    @Test func linksAreNotFollowed() async throws {
        try await make("a", opened: 10)
        let precious = folder.write("elsewhere/1-1-precious", "precious")
        let photos = folder.path("\(try path("a"))/photos")
        try FileManager.default.removeItem(atPath: photos)
        try FileManager.default.createSymbolicLink(atPath: photos, withDestinationPath: folder.path("elsewhere"))
        try await clean(limit: 0)
        #expect(FileManager.default.fileExists(atPath: precious))
    }

    /// Made by an older version and not opened since: it is read and cleaned without a migration.
    @Test func cachesOfAnOlderVersionAreCleanedToo() async throws {
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

    /// A run is ended in the middle. The rest is a valid cache, and the next run continues.
    @Test func theNextRunFinishesAnInterruptedOne() async throws {
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

    /// A process ended during a change before the database had a log, or while it got one.
    @Test("BEHAVIOURS 4.4: an interrupted change is rolled back, even where the cache is only read")
    func interruptedChangeIsRolledBackByReaders() async throws {
        try await make("a", opened: 10)
        let path = folder.path("\(try path("a"))/gallery.sqlite")
        let original = folder.path("original")
        try FileManager.default.copyItem(atPath: path, toPath: original)
        let connection = try Connection(path: original, access: .readWrite)
        // A small page cache forces half of the change to the disk.
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
}
