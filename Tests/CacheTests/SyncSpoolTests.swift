import Glibc
import Model
import TestSupport
import Testing

@testable import Cache

@Suite struct SyncSpoolTests {
    private let folder = TestFolder()

    /// An item's contents.
    private struct Item: Equatable {
        var change = SyncItem.Change.add
        var date: Int64
        var digest: Int64?
        var texts: [String?]

        init(_ item: SyncItem) {
            func text(_ bytes: UnsafeRawBufferPointer) -> String { String(decoding: bytes, as: UTF8.self) }
            change = item.change
            date = item.date.milliseconds
            digest = item.digest
            texts = [text(item.id), text(item.name), text(item.photo), item.thumbnail.map(text)]
            #expect(change.isStamp || Array(item.nameKey) == NaturalKey.bytes(of: texts[1] ?? ""))
        }

        init(_ change: SyncItem.Change, _ entry: EntryBytes) {
            self.change = change
            date = entry.date.milliseconds
            digest = entry.digest
            let thumbnail = entry.hasThumbnail ? entry.text(.thumbnail) : nil
            texts =
                change.isStamp
                ? ["", "", "", nil] : [entry.text(.id), entry.text(.name), entry.text(.photo), thumbnail]
        }
    }

    private func entry(_ number: Int, name: String) throws -> EntryBytes {
        EntryBytes(
            try TestCache.entry(
                "\(number)", name: name, date: Int64(number) * 1000 - 5000,
                thumbnail: number % 3 == 0 ? nil : "default"),
            digest: number % 4 == 0 ? nil : Int64(number) - 2_500)
    }

    private func change(_ number: Int) -> SyncItem.Change {
        let affects: [Rendition] = (number % 5 == 0 ? [.original] : []) + (number % 7 == 0 ? [.thumbnail] : [])
        return switch number % 3 {
        case 0: .add
        case 1: .alter(Int64(number) + 1, affects: Set(affects))
        default: .stamp(Int64(number) + 1)
        }
    }

    /// Short items, empty ones, and items longer than the buffer.
    @Test func itemsAreReadAsTheyWereWritten() throws {
        let spool = try SyncSpool(folder: folder.path)
        let items = try (0..<5_000).map { number in
            let name =
                number % 1_000 == 0 ? String(repeating: "é🏔", count: 100_000) : number % 11 == 0 ? "" : "n\(number)"
            return (change(number), try entry(number, name: name))
        }
        for (change, entry) in items { try spool.append(change, entry) }
        let written = try spool.finish()
        for _ in 0..<2 {
            var read: [Item] = []
            try written.forEachPiece { piece in while let item = piece.next() { read.append(Item(item)) } }
            #expect(read == items.map { Item($0, $1) })
        }
    }

    @Test func aTruncatedSpoolIsNotTakenForAWholeOne() throws {
        let spool = try SyncSpool(folder: folder.path)
        for number in 0..<10 { try spool.append(.add, entry(number, name: "n\(number)")) }
        let written = try spool.finish()
        let size = lseek(written.descriptor, 0, SEEK_END)
        ftruncate(written.descriptor, size - 1)
        #expect(throws: CacheError.self) { try written.forEachPiece { piece in while piece.next() != nil {} } }
    }

    @Test func anEmptySpoolHasNoItems() throws {
        try SyncSpool(folder: folder.path).finish().forEachPiece { _ in Issue.record("there is none") }
    }

    @Test func aSpoolLeavesNoFile() throws {
        let spool = try SyncSpool(folder: folder.path)
        try spool.append(.add, entry(1, name: "x"))
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
        // Keys that a damaged database may contain.
        for key in [Int64.min, -1, 0, .max] { #expect(set.insert(key) == !plain.contains(key) && set.contains(key)) }
    }
}

extension SyncItem.Change {
    fileprivate var isStamp: Bool {
        if case .stamp = self { true } else { false }
    }
}
