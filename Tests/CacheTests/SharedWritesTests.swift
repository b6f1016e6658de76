import Model
import SQLite
import TestSupport
import Testing

@testable import Cache

@Suite(.ownThread) struct SharedWritesTests {
    private let test: TestCache

    init() throws { test = try TestCache() }

    private var writer: GalleryWriter { test.cache.writer }

    /// The announcements after a number, one per transaction.
    private func commits(after number: Int64 = 0) async throws -> [(number: Int64, text: String)] {
        try await writer.transaction {
            try $0.map("SELECT key, changes FROM announcement WHERE key > ? ORDER BY key", number) {
                ($0.int(0), $0.text(1))
            }
        }
    }

    /// Adds photos and returns them in order.
    private func photos(_ count: Int) async throws -> [PhotoKey] {
        let ids = (0..<count).map(String.init)
        try await test.sync(ids.enumerated().map { try TestCache.entry($1, date: Int64($0)) })
        return try ids.map(test.key)
    }

    /// Blocks the writer until the gate opens. Returns when it is blocked.
    private func holdWriter(with gate: Gate) -> Task<Void, any Error> {
        let begun = Gate()
        let task = Task.immediate { [writer] in
            try await writer.transaction { _ in
                begun.open()
                #expect(gate.wait())
            }
        }
        #expect(begun.wait())
        return task
    }

    /// Starts work that waits for the writer. Returns when it waits.
    private func begin<Value: Sendable>(
        _ work: @escaping @Sendable (GalleryWriter) async throws -> Value
    ) -> Task<Value, any Error> {
        Task.immediate { [writer] in try await work(writer) }
    }

    private func bytes(of key: PhotoKey) throws -> [UInt8]? {
        try test.cache.read { try $0.thumbnail(of: key)?.bytes }
    }

    @Test("BEHAVIOURS 4.4: writes that arrive during a commit become durable and visible together")
    func together() async throws {
        let keys = try await photos(20)
        let before = try await commits().last?.number ?? 0
        let gate = Gate()
        let holding = holdWriter(with: gate)
        let stores = keys.map { key in begin { try await $0.store(thumbnail: [1, 2], of: key, edition: 1) } }
        gate.open()
        try await holding.value
        for store in stores { #expect(try await store.value) }
        // Over another connection: the data is there when this runs, not just soon.
        for key in keys { #expect(try bytes(of: key) == [1, 2]) }
        let commits = try await commits(after: before)
        #expect(commits.count == 1)
        let numbers = Set(keys.map(\.rawValue))
        let changes = try #require(commits.first?.text.split(separator: " "))
        for part in changes {
            let rows = part.split(separator: ":")[1].split(separator: ",").compactMap { Int64($0) }
            #expect(Set(rows) == numbers)
        }
    }

    @Test func aSingleWriteDoesNotWaitForOthers() async throws {
        let keys = try await photos(3)
        let before = try await commits().last?.number ?? 0
        for key in keys { try await writer.store(thumbnail: [1], of: key, edition: 1) }
        #expect(try await commits(after: before).count == 3)
    }

    @Test("BEHAVIOURS 2.6: a stale thumbnail is not stored, and the others of its transaction are")
    func staleAmongGood() async throws {
        let keys = try await photos(3)
        let gate = Gate()
        let holding = holdWriter(with: gate)
        let stores = keys.enumerated().map { index, key in
            begin { try await $0.store(thumbnail: [1], of: key, edition: index == 1 ? 7 : 1) }
        }
        gate.open()
        try await holding.value
        #expect(try await stores[0].value)
        #expect(try await !stores[1].value)
        #expect(try await stores[2].value)
        #expect(try keys.map { try bytes(of: $0) } == [[1], nil, [1]])
    }

    @Test func failuresAndConfirmationsShareATransactionToo() async throws {
        try await test.sync((0..<3).map { try TestCache.entry("\($0)", date: 1000) })
        for id in 0..<3 { try await test.hold("\(id)") }
        try await test.sync((0..<3).map { try TestCache.entry("\($0)", date: 2000) })
        let keys = try (0..<3).map { try test.key("\($0)") }
        let before = try await commits().last?.number ?? 0
        let dead = Failure("the server cannot be reached", remedy: .time)
        let gate = Gate()
        let holding = holdWriter(with: gate)
        let note = begin { try await $0.recordTrouble(.putOff(dead), for: .original, of: keys[0], edition: 2) }
        let confirmation = begin { try await $0.confirm(.thumbnail, of: keys[1], edition: 2) }
        let refusal = begin { try await $0.confirm(.thumbnail, of: keys[2], edition: 9) }
        gate.open()
        try await holding.value
        try await note.value
        #expect(try await confirmation.value)
        #expect(try await !refusal.value)
        #expect(try test.photo("0").original.trouble == .putOff(dead))
        #expect(try test.photo("1").thumbnail.isCurrent)
        #expect(try !test.photo("2").thumbnail.isCurrent)
        #expect(try await commits(after: before).count == 1)
    }

    @Test func writesKeepTheirOrder() async throws {
        let key = try await photos(1)[0]
        let gate = Gate()
        let holding = holdWriter(with: gate)
        let stores = [1, 2, 3].map { byte in
            begin { try await $0.store(thumbnail: [byte], of: key, edition: 1) }
        }
        gate.open()
        try await holding.value
        for store in stores { #expect(try await store.value) }
        #expect(try bytes(of: key) == [3])
    }

    @Test func transactionsAreLimited() async throws {
        let count = 2 * SharedWrites.largestCount + 1
        let keys = try await photos(count)
        let before = try await commits().last?.number ?? 0
        let gate = Gate()
        var holding = holdWriter(with: gate)
        let stores = keys.map { key in begin { try await $0.store(thumbnail: [1], of: key, edition: 1) } }
        // Other work of the writer does not wait for all of them.
        let other = begin { try await $0.recordOpened(at: Timestamp(milliseconds: 1)) }
        gate.open()
        try await holding.value
        try await other.value
        for store in stores { #expect(try await store.value) }
        let commits = try await commits(after: before)
        #expect(commits.map { $0.text.split(separator: ",").count > 1 } == [true, false, true, false])
        #expect(commits.map { $0.text.hasPrefix("gallery:") } == [false, true, false, false])
        // The same for bytes.
        let second = Gate()
        holding = holdWriter(with: second)
        let half = [UInt8](repeating: 1, count: SharedWrites.largestSize / 2)
        let large = (0..<3).map { index in begin { try await $0.store(thumbnail: half, of: keys[index], edition: 1) } }
        second.open()
        try await holding.value
        for store in large { #expect(try await store.value) }
        #expect(try await self.commits(after: commits.last?.number ?? 0).count == 2)
    }

    @Test func aFullDiskFailsAllWrites() async throws {
        let keys = try await photos(3)
        // "Limit the number of pages in the database file": it refuses data like a full disk.
        try await writer.transaction { try $0.execute("PRAGMA max_page_count = 1") }
        let gate = Gate()
        let holding = holdWriter(with: gate)
        let large = [UInt8](repeating: 1, count: 100_000)
        // The first would fit alone.
        let stores = keys.enumerated().map { index, key in
            begin { try await $0.store(thumbnail: index == 0 ? [1] : large, of: key, edition: 1) }
        }
        gate.open()
        try await holding.value
        for store in stores { await #expect(throws: CacheError.full) { try await store.value } }
        #expect(try keys.map { try bytes(of: $0) } == [nil, nil, nil])
        try await writer.transaction { try $0.execute("PRAGMA max_page_count = 1000000") }
        #expect(try await writer.store(thumbnail: large, of: keys[1], edition: 1))
    }

    @Test func anErrorOfOneRowFailsOneWrite() async throws {
        let keys = try await photos(3)
        try await writer.transaction {
            try $0.execute(
                """
                CREATE TEMP TRIGGER t BEFORE INSERT ON thumbnail WHEN new.photo = \(keys[1].rawValue)
                BEGIN SELECT RAISE(ABORT, 'no'); END
                """)
        }
        let gate = Gate()
        let holding = holdWriter(with: gate)
        let stores = keys.map { key in begin { try await $0.store(thumbnail: [1], of: key, edition: 1) } }
        gate.open()
        try await holding.value
        #expect(try await stores[0].value)
        await #expect(throws: CacheError.self) { try await stores[1].value }
        #expect(try await stores[2].value)
        #expect(try keys.map { try bytes(of: $0) } == [[1], nil, [1]])
    }

    @Test("BEHAVIOURS 5.7: a task cancelled while it waits for its transaction writes nothing")
    func cancelled() async throws {
        let keys = try await photos(3)
        let gone = Failure("the server answered 404", remedy: .none)
        let gate = Gate()
        let holding = holdWriter(with: gate)
        let stores = keys.map { key in begin { try await $0.store(thumbnail: [1], of: key, edition: 1) } }
        let note = begin { try await $0.recordTrouble(.bad(gone), for: .original, of: keys[1], edition: 1) }
        stores[1].cancel()
        note.cancel()
        // It learns this without waiting for the writer.
        await #expect(throws: CancellationError.self) { try await stores[1].value }
        let late = begin { writer in
            withUnsafeCurrentTask { $0?.cancel() }
            return try await writer.store(thumbnail: [1], of: keys[1], edition: 1)
        }
        await #expect(throws: CancellationError.self) { try await late.value }
        gate.open()
        try await holding.value
        #expect(try await stores[0].value)
        #expect(try await stores[2].value)
        try await note.value
        #expect(try keys.map { try bytes(of: $0) } == [[1], nil, [1]])
        // The failure of a cancelled task is recorded.
        #expect(try test.photo("1").original.trouble == .bad(gone))
    }
}
