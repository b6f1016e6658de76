import Glibc
import Model
import SQLite
import TestSupport
import Testing

@testable import Cache

/// The findings and repairs of a check.
@Suite struct CheckTests {
    private let test: TestCache

    init() throws { test = try TestCache() }

    private func connection() throws -> Connection {
        try Connection(path: test.cache.folder + "/gallery.sqlite", access: .readWrite)
    }

    private func found(_ word: String) throws -> Int {
        try connection().map("SELECT rowid FROM photo_text WHERE photo_text MATCH ?", word) { $0.int(0) }.count
    }

    /// Names change without the index.
    @Test func aWrongIndexIsRebuilt() async throws {
        try await test.sync([TestCache.entry("a", name: "Owl"), TestCache.entry("b", name: "Fox")])
        try connection().run("UPDATE photo SET name = 'Heron' WHERE id = 'a'")
        #expect(try found("heron") == 0)
        let check = try await test.cache.check()
        #expect(check.isIndexRepaired && check.complaints.isEmpty)
        #expect(try found("heron") == 1 && found("owl") == 0 && found("fox") == 1)
        #expect(!test.cache.mark.isSet)
        let again = try await test.cache.check()
        #expect(again == CacheCheck())
    }

    /// The index's own tables are damaged.
    @Test func aDamagedIndexIsRebuilt() async throws {
        try await test.sync((0..<50).map { try TestCache.entry("\($0)", name: "Owl \($0)") })
        let other = try connection()
        // SQLite protects this table from ordinary connections.
        try other.execute("INSERT INTO photo_text (photo_text, rowid, name, words) VALUES ('delete', 7, 'Owl 6', NULL)")
        #expect(try await test.cache.check().isIndexRepaired)
        #expect(try found("owl") == 50 && !test.cache.mark.isSet)
    }

    @Test("A photo whose file has changed is fetched again, and files without a row are removed")
    func brokenFiles() async throws {
        try await test.sync(["a", "b"].map { try TestCache.entry($0) })
        for id in ["a", "b"] { try await test.hold(id) }
        let photos = "cache/galleries/\(test.cache.id)/photos"
        let stored = try #require(try test.cache.read { try $0.photoFile(of: test.key("a")) })
        test.folder.write("\(photos)/\(stored.name)", "Photo of a")
        test.folder.write("\(photos)/notes.txt", "no photo")
        let target = test.folder.write("elsewhere.jpg", "of the user")
        #expect(symlink(target, test.folder.path("\(photos)/7-1-x")) == 0)
        let check = try await test.cache.check()
        #expect(check.brokenFiles == 1 && check.goodFiles == 1 && check.orphans == 2)
        #expect(try test.photo("a").original.held == nil && test.photo("b").original.isCurrent)
        #expect(test.folder.entries(photos).count == 1 && test.folder.entries().contains("elsewhere.jpg"))
    }

    @Test func inconsistentRowsAreRepaired() async throws {
        try await test.sync(["a", "b", "c", "d"].map { try TestCache.entry($0) })
        for id in ["a", "b", "c"] { try await test.hold(id) }
        let (a, b) = (try test.key("a"), try test.key("b"))
        try connection().execute(
            """
            DELETE FROM thumbnail WHERE photo = \(a.rawValue);
            UPDATE photo SET thumbnail_held = NULL WHERE key = \(b.rawValue);
            UPDATE photo SET photo_file = NULL WHERE id = 'c';
            INSERT INTO thumbnail (photo, data) VALUES (999, X'00');
            INSERT INTO metadata (photo, edition, format, width, height, words) VALUES (999, 1, 'JPEG', 1, 1, '');
            UPDATE gallery SET photo_count = 7;
            """)
        let check = try await test.cache.check()
        // The file that lost its row is an orphan.
        #expect(check.brokenRows == 6 && check.orphans == 1 && check.goodFiles == 2 && check.complaints.isEmpty)
        #expect(try test.photo("a").thumbnail.isWanting && test.photo("b").thumbnail.isWanting)
        #expect(try test.photo("c").original.isWanting && test.photo("c").thumbnail.isCurrent)
        #expect(try test.cache.read { try $0.gallery().photoCount } == 4)
        var well = CacheCheck()
        well.goodFiles = 2
        #expect(try await test.cache.check() == well)
    }
}
