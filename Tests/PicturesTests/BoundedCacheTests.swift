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
