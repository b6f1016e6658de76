/// A cache of limited size that evicts the least recently used values first.
struct BoundedCache<Key: Hashable & Sendable, Value: Sendable> {
    private struct Entry {
        let value: Value
        let cost: Int
        /// The value of the cache's `turn` when this entry was last used.
        var used: Int
    }

    private let limit: Int
    private var entries: [Key: Entry] = [:]
    private(set) var cost = 0
    private var turn = 0

    init(limit: Int) {
        self.limit = limit
    }

    /// Returns the value for a key, and marks it as used.
    mutating func value(for key: Key) -> Value? {
        turn += 1
        entries[key]?.used = turn
        return entries[key]?.value
    }

    /// Keeps a value. If the value is larger than the limit, the cache still keeps it, and nothing else, because a
    /// screen shows it.
    mutating func insert(_ value: Value, for key: Key, cost: Int) {
        insert(value, for: key, cost: cost, ranks: [:])
    }

    /// Keeps a value, unless that would evict more important values.
    ///
    /// - Parameter ranks: the rank of each key that a client needs, 0 for the most important. Evaluated only if
    ///   something must be evicted.
    /// - Returns: the evicted keys; nil if the value was not kept.
    @discardableResult
    mutating func insert(
        _ value: Value, for key: Key, cost: Int, ranks: @autoclosure () -> [Key: Int]
    ) -> [Key]? {
        remove(key)
        var gone: [Key] = []
        if self.cost + cost > limit {
            guard let found = makeRoom(for: key, cost, ranks()) else { return nil }
            gone = found
        }
        turn += 1
        entries[key] = Entry(value: value, cost: cost, used: turn)
        self.cost += cost
        return gone
    }

    /// Evicts values until a new value fits, and returns their keys. Returns nil if the new value is not important
    /// enough.
    ///
    /// Values without a rank go first, then the least important values. Among values of equal rank, the least recently
    /// used go first.
    private mutating func makeRoom(for key: Key, _ cost: Int, _ ranks: [Key: Int]) -> [Key]? {
        let rank = ranks[key] ?? .max
        // Look up each rank once, because hashing a key takes much longer than comparing numbers.
        let ranked = entries.map { (key: $0.key, entry: $0.value, rank: ranks[$0.key] ?? .max) }
        let spared = ranked.reduce(0) { $1.rank < rank ? $0 + $1.entry.cost : $0 }
        guard spared == 0 || spared + cost <= limit else { return nil }
        let others = ranked.filter { $0.rank >= rank }.sorted { ($1.rank, $0.entry.used) < ($0.rank, $1.entry.used) }
        var gone: [Key] = []
        for old in others {
            // Evict values without a rank down to three quarters of the limit, so that not every insertion has to sort.
            guard self.cost + cost > (old.rank == .max ? limit / 4 * 3 : limit) else { continue }
            remove(old.key)
            gone.append(old.key)
        }
        return gone
    }

    /// Evicts the least recently used values, down to a fraction of the limit.
    ///
    /// - Parameters:
    ///   - divisor: 8 means an eighth of the limit.
    ///   - kept: the keys of values that stay in any case.
    mutating func shrink(toOneIn divisor: Int, keeping kept: Set<Key> = []) {
        let others = entries.filter { !kept.contains($0.key) }.sorted { $0.value.used < $1.value.used }
        for old in others.map(\.key) where cost > limit / max(1, divisor) { remove(old) }
    }

    /// Removes the value for a key.
    mutating func remove(_ key: Key) {
        if let entry = entries.removeValue(forKey: key) { cost -= entry.cost }
    }
}
