import Model
import Testing

@testable import Cache

/// Updates compared with the existing rows in order.
@Suite struct LockstepTests {
    private let test: TestCache

    init() throws { test = try TestCache() }

    private func entries(_ numbers: some Sequence<Int>) throws -> StampedEntries {
        StampedEntries(try numbers.map { try TestCache.entry("\($0)") })
    }

    private var listVersion: Int64 {
        get throws { try test.cache.read { try $0.gallery().listVersion } }
    }

    @Test("BEHAVIOURS 2.5: an unchanged list writes no photo's row, and reads rows by the thousand")
    func sameList() async throws {
        var list = try entries(0..<12_000)
        try await test.sync(&list)
        let written = try await test.cache.writer.rowsWritten
        let again = try await test.sync(&list, pieces: 1_000)
        #expect(
            try await test.cache.writer.rowsWritten - written == 2, "the gallery's row and the announcement")
        #expect(again.summary == SyncSummary(total: 12_000))
        #expect(again.queries < 30)
    }

    @Test("BEHAVIOURS 2.5: one changed photo changes one row, found with few queries")
    func oneChange() async throws {
        var list = try entries(0..<3_000)
        try await test.sync(&list)
        let written = try await test.cache.writer.rowsWritten
        list.entries[1_500].name = "Another"
        let changed = try await test.sync(&list)
        #expect(changed.summary == SyncSummary(changed: 1, total: 3_000) && changed.queries < 40)
        // The photo's row and the gallery's; other rows belong to the search index.
        #expect(try await test.cache.writer.rowsWritten - written < 20)
        #expect(try test.photo("1500").name == "Another")
    }

    /// New photos usually come first in the list and have the highest keys.
    @Test func newestFirstListsNeedFewQueries() async throws {
        for newest in stride(from: 500, through: 700, by: 20) {
            var list = try entries((0..<newest).reversed().prefix(newest - 500) + Array(0..<500))
            let first = try await test.sync(&list)
            #expect(first.summary.total == newest)
            let again = try await test.sync(&list)
            #expect(again.summary == SyncSummary(total: newest))
            #expect(again.queries < newest - 500 + 20, "\(again.queries)")
        }
    }

    @Test func movedPhotosNeedFewQueries() async throws {
        let numbers = Array(0..<2_000)
        for (what, moved) in [
            ("the first half is gone", Array(numbers[1_000...])), ("the second half is gone", Array(numbers[..<1_000])),
            ("the halves have changed places", Array(numbers[1_000...] + numbers[..<1_000])),
            ("one stands elsewhere", [1_900] + numbers.filter { $0 != 1_900 }),
            ("each hundredth is gone", numbers.filter { $0 % 100 != 0 }),
        ] {
            var (list, other) = (try entries(numbers), try entries(moved))
            try await test.sync(&list)
            let result = try await test.sync(&other)
            #expect(result.summary == SyncSummary(removed: 2_000 - moved.count, total: moved.count), "\(what)")
            #expect(result.queries < (what.hasPrefix("each") ? 200 : 60), "\(what): \(result.queries)")
        }
    }

    /// A gallery that moved, or was filled before there were digests: only the digests change.
    @Test func newDigestsChangeNothingElse() async throws {
        var plain = StampedEntries(try (0..<500).map { try TestCache.entry("\($0)") })
        try await test.sync(plain.entries)
        var moved = plain
        moved.seed = 2
        for _ in 0..<2 {
            let version = try listVersion
            #expect(try await test.sync(&plain).summary == SyncSummary(total: 500))
            #expect(try await test.sync(&moved).summary == SyncSummary(total: 500))
            #expect(try await test.sync(&moved).queries < 20)
            #expect(try listVersion == version)
        }
    }

    @Test func entriesWithRemarksAreReadAgain() async throws {
        var list = try entries(0..<100)
        list.remarked = ["7"]
        list.broken = ["9"]
        try await test.sync(&list)
        let draft = try test.cache.beginSync()
        try draft.add(&list)
        #expect(list.reads == 2 && draft.count == 99)
    }

    @Test("BEHAVIOURS 2.3: an update stopped during its commit changes no row")
    func stoppedWhileStoring() async throws {
        var list = try entries(0..<10)
        try await test.sync(&list)
        let draft = try test.cache.beginSync()
        try draft.add((0..<25_000).map { try TestCache.entry("other \($0)") })
        let changes = try draft.finish()
        let cache = test.cache
        let committing = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await cache.writer.commit(
                changes, skipped: 0, validators: Validators(), at: Timestamp(milliseconds: 1))
        }
        await #expect(throws: CancellationError.self) { try await committing.value }
        #expect(try cache.read { try $0.gallery().photoCount } == 10 && test.photo("7").name == "Photo 7")
        #expect(try await cache.writer.complaints().isEmpty)
    }
}
