/// Values by their keys, as many as fit into so many bytes; beyond that those go that were used least recently.
struct BoundedCache<Key: Hashable & Sendable, Value: Sendable> {
    private struct Entry {
        let value: Value
        let cost: Int
        /// The turn of its last use.
        var used: Int
    }

    private let limit: Int
    private var entries: [Key: Entry] = [:]
    private(set) var cost = 0
    private var turn = 0

    init(limit: Int) {
        self.limit = limit
    }

    var count: Int { entries.count }

    /// The value of a key, which thereby counts as used.
    mutating func value(for key: Key) -> Value? {
        turn += 1
        entries[key]?.used = turn
        return entries[key]?.value
    }

    /// Keeps a value. One that is larger than the limit by itself is kept too, alone: it is being looked at.
    mutating func insert(_ value: Value, for key: Key, cost: Int) {
        remove(key)
        turn += 1
        entries[key] = Entry(value: value, cost: cost, used: turn)
        self.cost += cost
        guard self.cost > limit else { return }
        // Down to three quarters at once, so that sorting is not for every entry.
        for (old, entry) in entries.sorted(by: { $0.value.used < $1.value.used }) where old != key {
            guard self.cost > limit / 4 * 3 else { break }
            entries[old] = nil
            self.cost -= entry.cost
        }
    }

    /// Forgets a key.
    mutating func remove(_ key: Key) {
        if let entry = entries.removeValue(forKey: key) { cost -= entry.cost }
    }
}
