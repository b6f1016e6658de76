import Foundation
import Logging
import Model
import SQLite
import TestSupport
import Testing

@testable import Cache

/// Damaged databases. None ends the program, and none is used forever.
@Suite struct DamageTests {
    private let folder = TestFolder()
    private let log = Log()
    private let address: Address
    private let path: String

    init() async throws {
        address = try Address("http://example.org/index.xml")
        path = folder.path("cache/galleries/\(GalleryID(address))/gallery.sqlite")
        try await fill(open())
    }

    private func open() throws -> GalleryCache {
        try CacheFolder(path: folder.path("cache"), log: log).open(address)
    }

    private func fill(_ cache: GalleryCache) async throws {
        try await TestCache.sync((0..<100).map { try TestCache.entry("\($0)") }, into: cache)
        await cache.writer.close()
    }

    private func execute(_ script: String) throws {
        try Connection(path: path, access: .readWrite).execute(script)
    }

    private func expectSetAside(_ comment: Comment) async throws {
        let cache = try open()
        #expect(cache.wasSetAside && !cache.mark.isSet, comment)
        #expect(try cache.read { try $0.gallery().photoCount } == 0, comment)
        try await fill(cache)
        #expect(try cache.read { try $0.gallery().photoCount } == 100, comment)
    }

    /// A changed byte in a view's SQL may still be valid SQL.
    @Test func aChangedViewIsDetected() async throws {
        var file = try Data(contentsOf: URL(fileURLWithPath: path))
        let view = try #require(file.range(of: Data("CREATE VIEW photo_words".utf8)))
        let name = try #require(file.range(of: Data("photo.name, photo.id".utf8), in: view.upperBound..<file.endIndex))
        file.replaceSubrange(name, with: Data("photo.key,  photo.id".utf8))
        try file.write(to: URL(fileURLWithPath: path))
        try await expectSetAside("a view")
    }

    /// Such a byte makes SQLite report a wrong statement instead of damage. One of 10,000 random mutations did that.
    @Test func aChangedFormulaOfAColumnIsDetected() async throws {
        var file = try Data(contentsOf: URL(fileURLWithPath: path))
        let formula = try #require(file.range(of: Data("length(annotations)".utf8)))
        file[formula.lowerBound] = 234
        try file.write(to: URL(fileURLWithPath: path))
        try await expectSetAside("a formula")
    }

    @Test(arguments: [Int32.min, Int32.min + 1, -1, 0])
    func impossibleVersionsAreDetected(version: Int32) async throws {
        try execute("PRAGMA user_version = \(version)")
        try await expectSetAside("version \(version)")
        #expect(try !open().wasSetAside)
    }

    @Test(arguments: [
        "DROP TABLE thumbnail", "ALTER TABLE photo RENAME COLUMN photo_file TO photo_fime",
        "ALTER TABLE gallery RENAME TO galleri", "DROP INDEX photo_by_date",
        "UPDATE gallery SET address = 'http://example.org/another.xml'", "UPDATE gallery SET address = x'00FF'",
    ])
    func changedSchemasAreDetected(script: String) async throws {
        try execute(script)
        try await expectSetAside("\(script)")
    }

    @Test(arguments: [
        "UPDATE photo SET key = -key WHERE id = '7'", "UPDATE photo SET key = 9223372036854775807 WHERE id = '7'",
        "UPDATE photo SET key = 0 WHERE id = '7'", "UPDATE sqlite_sequence SET seq = 9223372036854775807",
        "UPDATE photo SET date = 9223372036854775807 WHERE id = '7'",
        "UPDATE photo SET date = -9223372036854775808 WHERE id = '7'",
    ])
    func impossibleNumbersAreDetected(script: String) async throws {
        try execute(script)
        try await expectSetAside("\(script)")
    }

    /// Another process may also write them while the program runs.
    @MainActor @Test(arguments: [Int64.min, -1, 0, 1 << 40, .max])
    func impossibleRowNumbersInAnOpenCache(key: Int64) async throws {
        let cache = try open()
        let results = try FetchedResults(of: cache)
        try execute("UPDATE photo SET key = \(key) WHERE id = '7'")
        #expect(throws: CacheError.self) { try FetchedResults(of: cache) }
        var rows = OrderedRows()
        _ = rows.apply([RowKey(key, .number(1)), RowKey(5, .number(2))])
        _ = rows.apply([RowKey(key, nil)])
        #expect(rows.index(of: key) == nil && results.index(of: PhotoKey(key)) == nil)
    }

    /// A full check happens only after damage was detected, not at each start.
    @Test("BEHAVIOURS 4.3: damage found during use causes the database to be set aside at the next start")
    func damageFoundDuringUse() async throws {
        try breakAnIndex()
        try meet()
        try await expectSetAside("after it was met with")
    }

    @Test("An intact database that seemed damaged is checked once, and stays")
    func seemingDamage() throws {
        DamageMark(database: path).set()
        let cache = try open()
        #expect(!cache.wasSetAside && !cache.mark.isSet)
        #expect(try cache.read { try $0.gallery().photoCount } == 100)
        #expect(log.entries.count { $0.message.contains("seemed damaged") } == 1)
    }

    @Test func damageFoundByACheckCausesTheDatabaseToBeSetAside() async throws {
        try breakAnIndex()
        try await check()
        try await expectSetAside("after a check")
    }

    /// Two indexes have changed places, one of them empty. Each is intact by itself.
    @Test("Damage that SQLite's check lists causes the database to be set aside, too")
    func damageThatTheCheckLists() async throws {
        let pages = try Connection(path: path, access: .readOnly).map(
            "SELECT rootpage FROM sqlite_schema WHERE name IN ('photo_by_name', 'photo_video')"
        ) { ($0.int(0) - 1) * 4_096 }
        var file = try Data(contentsOf: URL(fileURLWithPath: path))
        let roots = pages.map { Int($0)..<Int($0) + 4_096 }
        let contents = roots.map { file.subdata(in: $0) }
        for (root, content) in zip(roots, contents.reversed()) { file.replaceSubrange(root, with: content) }
        try file.write(to: URL(fileURLWithPath: path))
        try await check()
        try await expectSetAside("after a check")
    }

    private func breakAnIndex() throws {
        let page = try Connection(path: path, access: .readOnly).first(
            "SELECT rootpage FROM sqlite_schema WHERE name = 'photo_by_name'"
        ) { UInt64($0.int(0)) }
        let handle = try FileHandle(forUpdating: URL(fileURLWithPath: path))
        try handle.seek(toOffset: (try #require(page) - 1) * 4_096)
        try handle.write(contentsOf: Data(repeating: 0xA5, count: 4_096))
        try handle.close()
    }

    private func meet() throws {
        let cache = try open()
        #expect(!cache.wasSetAside)
        #expect(throws: CacheError.self) {
            try cache.read { try PhotoQuery(order: PhotoOrder(.name), filter: .all).rows($0) }
        }
    }

    private func check() async throws {
        let cache = try open()
        #expect(!cache.wasSetAside)
        #expect(try await !cache.check().complaints.isEmpty)
    }

    /// Each bit of the header is flipped. The cache opens as it is or as a new one, and can be filled.
    @Test(arguments: 0..<100)
    func headers(byte: Int) async throws {
        let good = try Data(contentsOf: URL(fileURLWithPath: path))
        for bit in ProcessInfo.processInfo.environment["VITRINE_BITS"] == nil ? [byte % 8] : Array(0..<8) {
            var bytes = good
            bytes[byte] ^= 1 << bit
            for suffix in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + suffix) }
            try bytes.write(to: URL(fileURLWithPath: path))
            do {
                try await fill(open())
            } catch CacheError.newerSchema {
                #expect(60..<64 ~= byte)
            } catch {
                // The damage appears during use. Then the next start sets it aside.
                try await fill(open())
            }
        }
    }

    /// After a change of the migrations, this test prints the new digest.
    @Test("A database that the migrations make has the layout that needs no comparison")
    func usualLayout() throws {
        let digest = try SchemaCheck.digest(of: SchemaCheck.layoutOfMigrations())
        #expect(digest == SchemaCheck.usualLayout)
    }
}
