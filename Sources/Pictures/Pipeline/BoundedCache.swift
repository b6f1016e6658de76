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
        insert(value, for: key, cost: cost, ranks: [:])
    }

    /// Keeps a value, unless that would take the room of what is wanted more.
    ///
    /// - Parameter ranks: the places of the keys that are wanted among each other, the most wanted first. Asked for only if
    ///   something has to go.
    /// - Returns: what has gone for it; nil if it found no room.
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

    /// First what nobody wants, the least recently used before the others; then what is wanted less.
    private mutating func makeRoom(for key: Key, _ cost: Int, _ ranks: [Key: Int]) -> [Key]? {
        let rank = ranks[key] ?? .max
        let spared = entries.reduce(0) { (ranks[$1.key] ?? .max) < rank ? $0 + $1.value.cost : $0 }
        guard spared == 0 || spared + cost <= limit else { return nil }
        let others = entries.filter { (ranks[$0.key] ?? .max) >= rank }.sorted {
            (ranks[$1.key] ?? .max, $0.value.used) < (ranks[$0.key] ?? .max, $1.value.used)
        }
        var gone: [Key] = []
        for old in others.map(\.key) {
            // Of what nobody wants, down to three quarters at once, so that sorting is not for every entry.
            guard self.cost + cost > (ranks[old] == nil ? limit / 4 * 3 : limit) else { continue }
            remove(old)
            gone.append(old)
        }
        return gone
    }

    /// Forgets a key.
    mutating func remove(_ key: Key) {
        if let entry = entries.removeValue(forKey: key) { cost -= entry.cost }
    }
}
