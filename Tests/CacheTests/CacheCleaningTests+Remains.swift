import Foundation
import Model
import SQLite
import TestSupport
import Testing

@testable import Cache

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
