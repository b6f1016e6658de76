import Testing

@testable import Pictures

struct BoundedCacheTests {
    @Test func cacheIsBounded() {
        var cache = BoundedCache<Int, String>(limit: 1_000)
        for number in 0..<10_000 {
            cache.insert("\(number)", for: number, cost: 100)
            #expect(cache.cost <= 1_000 && cache.value(for: number) == "\(number)")
            if number > 0 { _ = cache.value(for: 0) }
        }
        // Used all the time, so it is still there.
        #expect(cache.value(for: 0) == "0")
        cache.insert("huge", for: -1, cost: 5_000)
        #expect(cache.count == 1 && cache.value(for: -1) == "huge")
        cache.remove(-1)
        #expect(cache.cost == 0)
    }
}
