import Foundation
import Logging
import Model
import SQLite
import TestSupport
import Testing

@testable import Cache

/// Damage of the search index, which can be rebuilt from the rows without loss.
@Suite(.ownThread) struct IndexDamageTests {
    private let folder = TestFolder()
    private let log = Log()
    private let address: Address
    private let path: String

    init() async throws {
        address = try Address("http://example.org/index.xml")
        path = folder.path("cache/galleries/\(GalleryID(address))/gallery.sqlite")
        let cache = try open()
        try await sync(0..<100, into: cache)
        try await TestCache.store(photo: "photo of 7", of: "7", in: cache)
        await cache.writer.close()
    }

    private func open() throws -> GalleryCache {
        try CacheFolder(path: folder.path("cache"), log: log).open(address)
    }

    private func sync(_ ids: Range<Int>, into cache: GalleryCache) async throws {
        try await TestCache.sync(ids.map { try TestCache.entry("\($0)") }, into: cache)
    }

    private func found(_ words: String, in cache: GalleryCache) throws -> Int {
        try cache.read { reader in
            try reader.connection.map("SELECT rowid FROM photo_text WHERE photo_text MATCH ?", words) { $0.int(0) }
        }.count
    }

    /// Makes the index disagree with the rows while its pages stay valid. The cache's own connections would refuse this.
    private func breakIndex(_ script: String) throws {
        let program = """
            import sqlite3, sys
            database = sqlite3.connect(sys.argv[1])
            database.executescript(sys.argv[2])
            database.close()
            """
        let python = try Command("/usr/bin/python3", ["-c", program, path, script])
        try #require(python.status == 0, "\(python.errors)")
    }

    /// Overwrites the first page of a table.
    private func breakPage(of table: String) throws {
        let page = try Connection(path: path, access: .readOnly).first(
            "SELECT rootpage FROM sqlite_schema WHERE name = ?", table
        ) { UInt64($0.int(0)) }
        let handle = try FileHandle(forUpdating: URL(fileURLWithPath: path))
        try handle.seek(toOffset: (try #require(page) - 1) * 4_096)
        try handle.write(contentsOf: Data(repeating: 0xA5, count: 4_096))
        try handle.close()
    }

    private func expectWhole(_ cache: GalleryCache, count: Int = 100) async throws {
        #expect(!cache.wasSetAside)
        #expect(try cache.read { try $0.gallery().photoCount } == count)
        #expect(try found("photo", in: cache) == count)
        let check = try await cache.check()
        #expect(check == CacheCheck(goodFiles: 1))
        let folder = "cache/galleries/\(GalleryID(address))"
        #expect(self.folder.entries(folder).allSatisfy { !$0.contains("damaged") && !$0.contains("rescue") })
    }

    private static let contradictions = [
        "DELETE FROM photo_text_data WHERE id > 10", "DELETE FROM photo_text_idx",
        "UPDATE photo_text_data SET block = zeroblob(length(block)) WHERE id > 10",
        "UPDATE photo_text_data SET block = x'FFFFFFFFFF' WHERE id = 10",
        "UPDATE photo_text_data SET block = randomblob(length(block)) WHERE id > 10",
    ]

    @Test("BEHAVIOURS 4.3: an update rebuilds a damaged search index", arguments: contradictions)
    func anUpdateRepairsIt(script: String) async throws {
        try breakIndex(script)
        let cache = try open()
        // The position of the damage decides whether the update meets it. It succeeds either way.
        try await sync(50..<150, into: cache)
        #expect(try cache.read { try $0.gallery().photoCount } == 100)
        _ = try await cache.writer.repairIndex()
        #expect(try found("photo", in: cache) == 100)
    }

    @Test(
        "BEHAVIOURS 4.3: the next start rebuilds a search index that was found damaged",
        arguments: contradictions)
    func theNextStartRepairsIt(script: String) async throws {
        try breakIndex(script)
        do {
            let cache = try open()
            _ = try? found("photo", in: cache)
            // A search may or may not meet the damage.
            cache.mark.set()
        }
        try await expectWhole(open())
    }

    @Test func aCheckRepairsIt() async throws {
        try breakIndex("UPDATE photo_text_data SET block = zeroblob(length(block)) WHERE id > 10")
        let cache = try open()
        #expect(try await cache.check().isIndexRepaired)
        try await expectWhole(cache)
    }

    @Test func detectedDamageLeavesTheMark() throws {
        try breakIndex("DELETE FROM photo_text_data WHERE id > 10")
        let cache = try open()
        #expect(throws: CacheError.self) { try found("photo", in: cache) }
        #expect(cache.mark.isSet)
    }

    /// Stores a source whose server recognized the user.
    private func storeSource() async throws -> ListSource {
        let root = ListSource.Folder(path: [], validators: Validators(lastModified: "signed in"))
        let source = ListSource(kind: .piwigo, root: address, folders: [root])
        let cache = try open()
        try await cache.writer.transaction { try source.store($0) }
        await cache.writer.close()
        return source
    }

    @Test(
        "BEHAVIOURS 4.3: if only pages of the search index are damaged, all rows are kept",
        arguments: ["photo_text_data", "photo_text_idx", "photo_text_config"])
    func pagesOfTheIndex(table: String) async throws {
        let source = try await storeSource()
        try breakPage(of: table)
        do {
            let cache = try open()
            _ = try? found("photo", in: cache)
            cache.mark.set()
        }
        let cache = try open()
        try await expectWhole(cache)
        #expect(try cache.read { try $0.source() } == source)
        // No number is reused.
        try await sync(200..<201, into: cache)
        #expect(try cache.read { try $0.photo(galleryID: "200") }?.key == PhotoKey(101))
    }

    @Test("A rescue leaves out a damaged table of folders")
    func damagedFolders() async throws {
        _ = try await storeSource()
        for table in ["photo_text_data", "folder"] { try breakPage(of: table) }
        DamageMark(database: path).set()
        let cache = try open()
        try await expectWhole(cache)
        #expect(try cache.read { try $0.source() }?.folders == [])
    }

    @Test("A rescue removes what an interrupted one left, and reserves the numbers of removed photos")
    func secondRescue() async throws {
        do {
            let cache = try open()
            try await sync(0..<50, into: cache)
            await cache.writer.close()
        }
        try breakPage(of: "photo_text_data")
        DamageMark(database: path).set()
        let remainder = folder.write("cache/galleries/\(GalleryID(address))/partial/rescued.sqlite", "half a copy")
        let rescued = try open()
        try await expectWhole(rescued, count: 50)
        #expect(!FileManager.default.fileExists(atPath: remainder))
        try await sync(200..<201, into: rescued)
        #expect(try rescued.read { try $0.photo(galleryID: "200") }?.key == PhotoKey(101))
    }

    /// Announcements of past commits are not needed any more.
    @Test(arguments: ["announcement", "metadata"]) func otherTablesSuffered(table: String) async throws {
        try breakPage(of: table)
        if table == "metadata" { DamageMark(database: path).set() }
        let cache = try open()
        guard table == "announcement" else { return #expect(cache.wasSetAside) }
        try await expectWhole(cache)
        try await sync(200..<201, into: cache)
    }

    /// The index has another format, or no beginning, so it cannot even be opened.
    @Test(arguments: [
        "UPDATE photo_text_config SET v = 77 WHERE k = 'version'",
        "UPDATE photo_text_data SET block = x'FFFFFFFFFF' WHERE id = 10",
    ])
    func theIndexCannotBeOpened(script: String) async throws {
        try breakIndex(script)
        try await expectWhole(open())
    }

    /// Rows are damaged too, so nothing can be rescued.
    @Test(arguments: ["photo", "photo_by_date", "thumbnail"]) func rowsAreDamagedToo(table: String) async throws {
        try breakPage(of: "photo_text_data")
        try breakPage(of: table)
        DamageMark(database: path).set()
        let cache = try open()
        #expect(cache.wasSetAside)
        try await sync(0..<100, into: cache)
        #expect(try found("photo", in: cache) == 100)
    }
}

@Suite struct SchemaTests {
    @Test("BEHAVIOURS 4.3: a cache of an older version is migrated with all of its contents")
    func migration() throws {
        let folder = TestFolder()
        let caches = try CacheFolder(path: folder.path("caches"), log: Log())
        let address = try Address("http://localhost/index.xml")
        let path = folder.path("caches/galleries/\(GalleryID(address))")
        try PrivateFolder.make(path)
        let old = try Connection(path: path + "/gallery.sqlite", access: .readWrite)
        try Schema.migrate(old, through: 1)
        try old.execute(
            """
            INSERT INTO gallery (key, address, photo_count) VALUES (1, '\(address.text)', 1);
            INSERT INTO photo (id, name, name_key, date, photo_address)
            VALUES ('a', 'Zoë on the Äolus', X'61', 1000, 'http://localhost/a.jpg');
            """)
        let cache = try caches.open(address)
        #expect(!cache.wasSetAside)
        let photo = try #require(try cache.read { try $0.photo(galleryID: "a") })
        #expect(photo.name == "Zoë on the Äolus")
        // The user has not left the gallery yet, so no photo is new.
        #expect(try cache.read { try $0.gallery() }.isNew(photo.key) == false)
        // Its words are found, also without accents.
        let found = try cache.read { reader in
            try reader.connection.map("SELECT rowid FROM photo_text WHERE photo_text MATCH ?", "zoe aol*") { $0.int(0) }
        }
        #expect(found == [photo.key.rawValue])
    }

    @Test("The blurred pictures of an Immich gallery move out of the revisions")
    func thumbhashes() throws {
        func columns(kind: String, revision: String) throws -> [String?]? {
            let connection = try Connection(path: ":memory:", access: .readWrite)
            try Schema.migrate(connection, through: 9)
            try connection.run("INSERT INTO gallery (key, address, kind) VALUES (1, 'http://localhost/', ?)", kind)
            try connection.run(
                """
                INSERT INTO photo (id, name, name_key, date, photo_address, revision) VALUES ('a', 'a', X'61', 1, 'b', ?)
                """, revision)
            try connection.execute(Schema.migrations[9])
            return try connection.first("SELECT revision, thumbhash FROM photo") {
                [$0.optionalText(0), $0.optionalText(1)]
            }
        }
        #expect(try columns(kind: "immich", revision: "SHA1= 1QcS") == ["SHA1=", "1QcS"])
        #expect(try columns(kind: "immich", revision: "SHA1= ") == ["SHA1=", nil])
        #expect(try columns(kind: "webdav", revision: "17 2") == ["17 2", nil])
    }

    @Test("After an update of Vitrine, the folders of Nextcloud and feeds are read whole")
    func validators() throws {
        func validators(kind: String) throws -> [[String?]] {
            let connection = try Connection(path: ":memory:", access: .readWrite)
            try Schema.migrate(connection, through: 18)
            try connection.run(
                """
                INSERT INTO gallery (key, address, kind, etag, last_modified) VALUES (1, 'http://localhost/', ?, 'g', 'h')
                """, kind)
            try connection.execute(
                "INSERT INTO folder (path, etag, last_modified) VALUES (x'', 'a', 'b'), (x'61', 'c', NULL)")
            try connection.execute(Schema.migrations[18])
            return try connection.map(
                "SELECT etag, last_modified FROM gallery UNION ALL SELECT etag, last_modified FROM folder"
            ) { [$0.optionalText(0), $0.optionalText(1)] }
        }
        #expect(try validators(kind: "nextcloud") == [["g", "h"], [nil, nil], [nil, nil]])
        #expect(try validators(kind: "feed") == [[nil, nil], ["a", "b"], ["c", nil]])
        #expect(try validators(kind: "webdav") == [["g", "h"], ["a", "b"], ["c", nil]])
    }

    @Test("The index of ids becomes an ordinary one, also for a connection that was open before")
    func indexOfIDs() throws {
        let folder = TestFolder()
        let path = folder.path("old.sqlite")
        let connection = try Connection(path: path, access: .readWrite)
        try Schema.migrate(connection, through: 15)
        let insertion = "INSERT INTO photo (id, name, name_key, date, photo_address) VALUES (?, 'A', X'61', 1, 'b')"
        for id in ["b", "a", "c"] { try connection.run(insertion, id) }
        try connection.run("DELETE FROM photo WHERE id = 'c'")
        let other = try Connection(path: path, access: .readWrite)
        let search = "SELECT key FROM photo WHERE id = ?"
        #expect(try other.first(search, "a") { $0.int(0) } == 2)
        let pages = try connection.first("PRAGMA page_count") { $0.int(0) }

        try connection.transaction(writes: true) { try connection.executeEditingSchema(Schema.migrations[15]) }
        #expect(try connection.first("PRAGMA page_count") { $0.int(0) } == pages)
        for connection in [connection, other] {
            #expect(throws: SQLiteError.constraint(reason: "UNIQUE constraint failed: photo.id")) {
                try connection.run(insertion, "a")
            }
            #expect(throws: SQLiteError.self) { try connection.execute("UPDATE sqlite_schema SET sql = ''") }
            let plan = try connection.map("EXPLAIN QUERY PLAN " + search, "a") { $0.text(3) }
            #expect(plan.contains { $0.contains("photo_by_id") }, "\(plan)")
            #expect(try connection.first("PRAGMA integrity_check") { $0.text(0) } == "ok")
        }
        try other.execute("DROP INDEX photo_by_id")
        try other.execute("CREATE UNIQUE INDEX photo_by_id ON photo (id)")
        // The number of the removed photo stays reserved.
        try connection.run(insertion, "d")
        #expect(try connection.first(search, "d") { $0.int(0) } == 4)
    }
}
