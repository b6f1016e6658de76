import Model
import SQLite
import Testing

@testable import Cache

/// Updates with so many changes that the indices are built anew.
@Suite struct LargeUpdateTests {
    private let test = try! TestCache()

    /// Checks that the indices are there and match the rows, and that the search finds all photos.
    private func check(_ count: Int) throws {
        try test.cache.read { reader in
            try SchemaCheck.check(reader.connection)
            #expect(try reader.connection.first("PRAGMA integrity_check") { $0.text(0) } == "ok")
            for index in ["photo_by_id", "photo_by_date", "photo_by_name"] {
                let counted = try reader.connection.first("SELECT count(*) FROM photo INDEXED BY \(index)") {
                    Int($0.int(0))
                }
                #expect(counted == count, "\(index)")
            }
            let found = try reader.connection.map("SELECT rowid FROM photo_text WHERE photo_text MATCH 'photo*'") {
                $0.int(0)
            }
            #expect(found.count == count)
            #expect(try reader.gallery().photoCount == count)
        }
    }

    private func entries(_ numbers: some Sequence<Int>, name: String = "Photo") throws -> [GalleryEntry] {
        // The ids are not in the order of the list.
        try numbers.map { try TestCache.entry("\($0 &* 7_919 % 10_007)", name: "\(name) \($0)") }
    }

    @Test("The first of several entries with the same id counts, also in a large first list")
    func repeatedIDs() async throws {
        let list =
            try entries(0..<3_000) + entries(stride(from: 0, to: 3_000, by: 100), name: "Other photo")
            + entries([5, 5], name: "Third photo")
        let summary = try await test.sync(list)
        #expect(summary == SyncSummary(added: 3_000, changed: 0, removed: 0, skipped: 32, total: 3_000))
        #expect(try test.cache.read { try $0.photo(galleryID: "0")?.name } == "Photo 0")
        try check(3_000)
        let again = try await test.sync(list)
        #expect(again == SyncSummary(added: 0, changed: 0, removed: 0, skipped: 32, total: 3_000))
    }

    @Test("A large update of a small gallery keeps its photos, and counts repeated ids")
    func growth() async throws {
        try await test.sync(entries(0..<10))
        try await test.hold("0")
        let kept = try test.key("0")
        let summary = try await test.sync(
            entries(0..<4_000) + entries([0, 3_999, 3_999], name: "Other photo"))
        #expect(summary == SyncSummary(added: 3_990, changed: 0, removed: 0, skipped: 3, total: 4_000))
        #expect(try test.key("0") == kept && test.photo("0").original.isCurrent)
        try check(4_000)
    }

    @Test("After an update that changes all photos, the indices match the rows")
    func alterations() async throws {
        try await test.sync(entries(0..<3_000))
        let summary = try await test.sync(entries(0..<3_001, name: "New photo"))
        #expect(summary == SyncSummary(added: 1, changed: 3_000, removed: 0, skipped: 0, total: 3_001))
        try check(3_001)
    }

    @Test("An update that removes most photos needs fewer statements than photos")
    func removals() async throws {
        try await test.sync(entries(0..<3_000))
        try await test.hold("0")
        let before = try await test.cache.writer.statements()
        let summary = try await test.sync(entries([0, 3_000]))
        #expect(summary == SyncSummary(added: 1, changed: 0, removed: 2_999, skipped: 0, total: 2))
        #expect(try await test.cache.writer.statements() - before < 300)
        #expect(try test.photo("0").original.isCurrent)
        try check(2)
    }

    @Test("A large update that is cancelled changes nothing")
    func cancellation() async throws {
        try await test.sync(entries(0..<10))
        let draft = try test.cache.beginSync()
        try draft.add(entries(0..<4_000))
        let changes = try draft.finish()
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await test.cache.writer.commit(
                changes, skipped: 0, validators: Validators(), at: Timestamp(milliseconds: 2))
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        try check(10)
    }
}

extension GalleryWriter {
    /// Returns the number of statements that the writer has run so far.
    fileprivate func statements() throws -> Int { try read { $0.work.statements } }
}
