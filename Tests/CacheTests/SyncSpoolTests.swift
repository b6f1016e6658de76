import Glibc
import Model
import TestSupport
import Testing

@testable import Cache

@Suite struct SyncSpoolTests {
    private let folder = TestFolder()

    private func item(_ number: Int, name: String) throws -> SyncItem {
        var item = SyncItem(
            try TestCache.entry(
                "\(number)", name: name, date: Int64(number) * 1000 - 5000,
                thumbnail: number % 3 == 0 ? nil : "default"))
        if number % 2 == 0 { item.key = Int64(number) + 1 }
        if number % 5 == 0 { item.affects = [.photo] }
        if number % 7 == 0 { item.affects.insert(.thumbnail) }
        return item
    }

    /// Short ones, empty ones, and ones that are longer than what is read at once.
    @Test func whatGoesInComesOut() throws {
        let spool = try SyncSpool(folder: folder.path)
        let items = try (0..<5_000).map { number in
            let name =
                number % 1_000 == 0 ? String(repeating: "é🏔", count: 100_000) : number % 11 == 0 ? "" : "n\(number)"
            return try item(number, name: name)
        }
        for item in items { try spool.append(item) }
        let written = try spool.finish()
        for _ in 0..<2 {
            var read: [SyncItem] = []
            try written.forEach { read.append($0) }
            #expect(read == items)
        }
    }

    @Test func halfOfItIsNotTakenForTheWhole() throws {
        let spool = try SyncSpool(folder: folder.path)
        for number in 0..<10 { try spool.append(item(number, name: "n\(number)")) }
        let written = try spool.finish()
        let size = lseek(written.descriptor, 0, SEEK_END)
        ftruncate(written.descriptor, size - 1)
        #expect(throws: CacheError.self) { try written.forEach { _ in } }
    }

    @Test func nothingComesOutOfNothing() throws {
        try SyncSpool(folder: folder.path).finish().forEach { _ in Issue.record("there is none") }
    }

    @Test func leavesNoFile() throws {
        let spool = try SyncSpool(folder: folder.path)
        try spool.append(item(1, name: "x"))
        #expect(folder.entries("").isEmpty)
        #expect(throws: CacheError.self) { try SyncSpool(folder: folder.path("missing")) }
    }

    @Test func setOfKeys() {
        var set = KeySet()
        var plain: Set<Int64> = []
        var state: UInt64 = 1
        for _ in 0..<20_000 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            let key = Int64(state >> 33) % 70_000 + (state & 1 == 0 ? 0 : 1 << 40)
            #expect(set.insert(key) == plain.insert(key).inserted)
        }
        #expect(set.count == plain.count)
        #expect((0..<70_000).allSatisfy { set.contains($0) == plain.contains($0) })
        // What a damaged database may come with.
        for key in [Int64.min, -1, 0, .max] { #expect(set.insert(key) == !plain.contains(key) && set.contains(key)) }
    }
}
