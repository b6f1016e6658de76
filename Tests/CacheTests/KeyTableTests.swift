import Testing

@testable import Cache

/// Sort keys of rows, in tables and blocks of memory.
@Suite struct KeyTableTests {
    @Test("A row has the key that was set last, even zero, and none after its removal")
    func table() {
        var table = KeyTable()
        #expect(table[1] == nil && table[1_000] == nil)
        for row: Int64 in [1, 63, 64, 65, 128, 1_000] {
            table[row] = 0
            #expect(table[row] == 0)
            table[row] = UInt64(row) << 32
        }
        table[64] = nil
        #expect(table[64] == nil && table[63] == 63 << 32 && table[65] == 65 << 32 && table[66] == nil)
        table[1_000] = nil
        table[2_000_000] = nil
        #expect(table[1_000] == nil && table[2_000_000] == nil)
        table[64] = 5
        #expect(table[64] == 5)
    }

    @Test("Each key is returned exactly, whether its page writes keys as seconds, as small numbers or whole")
    func scales() {
        let first: UInt64 = 1 << 63 - 1_262_304_000_000
        let last = first + UInt64(UInt32.max) * 1_000
        let edges: [UInt64] = [
            0, 1, UInt64(UInt32.max), UInt64(UInt32.max) + 1, first, first - 1, first - 1_000, first + 1, last,
            last + 1,
            last + 1_000, 1 << 63, .max,
        ]
        // Each pair begins a page with one key, adds the other one, and then begins the page again.
        for one in edges {
            for other in edges {
                var table = KeyTable()
                (table[64], table[65]) = (one, other)
                #expect(table[64] == one && table[65] == other && table[66] == nil)
                (table[64], table[65]) = (nil, nil)
                (table[66], table[64]) = (other, one)
                #expect(table[66] == other && table[64] == one && table[65] == nil)
                table[64] = other
                #expect(table[64] == other && table[66] == other)
            }
        }
    }

    @Test("Rows that no gallery can have, have no key")
    func outside() {
        var table = KeyTable()
        for row in [Int64.min, -1, .max] {
            table[row] = 1
            #expect(table[row] == nil)
        }
    }

    @Test("A single row with the largest number takes little memory")
    func largest() {
        var table = KeyTable()
        table[SchemaCheck.rows.upperBound] = 7
        #expect(table[SchemaCheck.rows.upperBound] == 7 && table[1] == nil)
        #expect(table.chapters.count == 524_288 && table.chapters.filter { !$0.isEmpty }.count == 1)
        table[1] = nil
        #expect(table.chapters.filter { !$0.isEmpty }.count == 1)
    }

    @Test("Keys are kept to 4,095 bytes, and compared like bytes")
    func arena() {
        var arena = KeyArena()
        #expect(arena.isEmpty)
        let (a, ab, b, empty) = (arena.append([1]), arena.append([1, 2]), arena.append([2]), arena.append([]))
        #expect(!arena.isEmpty)
        let sorted = [empty, a, ab, b]
        for (place, key) in sorted.enumerated() {
            #expect(arena.compare(key, key) == 0)
            for later in sorted[(place + 1)...] {
                #expect(arena.compare(key, later) < 0 && arena.compare(later, key) > 0)
            }
        }
        let long = [UInt8](repeating: 7, count: 5_000)
        let kept = arena.append(long)
        #expect(Array(arena.bytes(at: kept)) == Array(long.prefix(4_095)))
        #expect(arena.holds(long, at: kept) && arena.holds([1, 2], at: ab) && !arena.holds([1, 3], at: ab))
        let exact = arena.append(long.prefix(4_095))
        #expect(arena.compare(kept, exact) == 0 && Array(arena.bytes(at: ab)) == [1, 2])
    }

    @Test("A block is mostly waste when over half of it, and over 64 KB, was discarded")
    func waste() {
        var arena = KeyArena()
        let key = [UInt8](repeating: 1, count: 4_096 - 1)
        let keys = (0..<40).map { _ in arena.append(key) }
        for reference in keys.prefix(20) { arena.discard(reference) }
        // Exactly half.
        #expect(!arena.isMostlyWaste)
        arena.discard(keys[20])
        #expect(arena.isMostlyWaste)
        var small = KeyArena()
        let few = (0..<16).map { _ in small.append(key) }
        for reference in few { small.discard(reference) }
        #expect(!small.isMostlyWaste, "65,520 bytes")
    }
}
