import Synchronization
import Testing

@testable import Pictures

struct BoundedCacheTests {
    @Test func evictsTheLeastRecentlyUsed() {
        var cache = BoundedCache<Int, String>(limit: 1_000)
        for number in 0..<10_000 {
            cache.insert("\(number)", for: number, cost: 100)
            #expect(cache.cost <= 1_000 && cache.value(for: number) == "\(number)")
            if number > 0 { _ = cache.value(for: 0) }
        }
        // Used in every round, so it is still cached.
        #expect(cache.value(for: 0) == "0")
        cache.insert("huge", for: -1, cost: 5_000)
        #expect(cache.cost == 5_000 && cache.value(for: -1) == "huge")
        cache.remove(-1)
        #expect(cache.cost == 0)
    }

    @Test("A cache shrinks to a part of its limit, keeps wanted values, and grows again")
    func shrinks() {
        var cache = BoundedCache<Int, String>(limit: 1_000)
        for number in 1...10 { cache.insert("\(number)", for: number, cost: 100) }
        _ = cache.value(for: 1)
        cache.shrink(toOneIn: 4, keeping: [3])
        #expect(cache.cost == 200 && cache.value(for: 1) == "1" && cache.value(for: 3) == "3")
        cache.shrink(toOneIn: 4)
        #expect(cache.cost == 200)
        cache.shrink(toOneIn: 1_000, keeping: [1, 3])
        #expect(cache.cost == 200, "wanted values stay in any case")
        for number in 11...18 { cache.insert("\(number)", for: number, cost: 100) }
        #expect(cache.cost == 1_000 && cache.value(for: 3) == "3")
    }

    /// A key that counts how often the program hashes a key.
    private struct CountedKey: Hashable {
        let number: Int
        let hashes: HashCount

        static func == (left: Self, right: Self) -> Bool { left.number == right.number }

        func hash(into hasher: inout Hasher) {
            hashes.count.add(1, ordering: .relaxed)
            hasher.combine(number)
        }
    }

    private final class HashCount: Sendable {
        let count = Atomic(0)
    }

    @Test("An eviction hashes each key a few times, however many keys there are")
    func hashesFewTimes() {
        let hashes = HashCount()
        let keys = (0...4_000).map { CountedKey(number: $0, hashes: hashes) }
        var cache = BoundedCache<CountedKey, Int>(limit: 4_000)
        for key in keys.dropLast() { cache.insert(key.number, for: key, cost: 1) }
        let ranks = Dictionary(zip(keys.suffix(100), 0...), uniquingKeysWith: min)
        let before = hashes.count.load(ordering: .relaxed)
        let gone = cache.insert(4_000, for: keys[4_000], cost: 1, ranks: ranks)
        let count = hashes.count.load(ordering: .relaxed) - before
        #expect(gone?.count == 1_001 && cache.cost == 3_000)
        #expect(count < 3 * keys.count, "\(count) hashes")
    }

    @Test func keepsMoreWantedValues() {
        var cache = BoundedCache<Int, String>(limit: 1_000)
        let ranks = [1: 0, 2: 1, 3: 2, 4: 3]
        for number in [9, 1, 2, 4] { cache.insert("\(number)", for: number, cost: 250, ranks: ranks) }
        // Evicts unwanted values first, then the least wanted.
        #expect(cache.insert("8", for: 8, cost: 250, ranks: ranks) == [9])
        #expect(cache.insert("3", for: 3, cost: 500, ranks: ranks) == [8, 4])
        #expect(cache.insert("4", for: 4, cost: 250, ranks: ranks) == nil && cache.cost == 1_000)
        #expect(cache.insert("5", for: 5, cost: 1, ranks: ranks) == nil)
        #expect(cache.insert("1", for: 1, cost: 5_000, ranks: ranks) == [3, 2])
        #expect(cache.cost == 5_000 && cache.value(for: 1) == "1")
    }
}
