/// Rows in the order of their sort keys, smallest first, equal ones by their number; sixteen bytes a row for dates.
struct OrderedRows {
    private(set) var rows: ContiguousArray<Int64> = []
    private var keys = KeyTable()
    /// The bytes of text keys; a row's entry in `keys` is then where they lie. Unused for numbers.
    private var arena = KeyArena()

    var count: Int { rows.count }

    /// Adds the row that comes last. For filling from a query that sorts.
    mutating func append(_ row: Int64, _ key: SortKey) {
        rows.append(row)
        setKey(key, of: row)
    }

    /// Where a row stands, if it is among them.
    func index(of row: Int64) -> Int? {
        guard keys[row] != nil else { return nil }
        let index = insertionIndex(of: row)
        return index < rows.count && rows[index] == row ? index : nil
    }

    /// How many rows have a number below this one. For rows that are sorted by number.
    func countOfRows(below number: Int64) -> Int {
        partitionIndex { (keys[$0] ?? 0) < Self.ordered(number) }
    }

    /// The number that a row is sorted by.
    func number(at index: Int) -> Int64 {
        Int64(bitPattern: (keys[rows[index]] ?? 0) ^ (1 << 63))
    }

    /// Whether a row has this key.
    func hasKey(_ key: SortKey, _ row: Int64) -> Bool {
        guard let old = keys[row] else { return false }
        return switch key {
        case .number(let number): old == Self.ordered(number)
        case .text(let bytes): arena.holds(bytes, at: old)
        }
    }

    mutating func setKey(_ key: SortKey, of row: Int64) {
        switch key {
        case .number(let number): keys[row] = Self.ordered(number)
        case .text(let bytes):
            if let old = keys[row] { arena.discard(old) }
            keys[row] = arena.append(bytes)
        }
    }

    mutating func removeKey(of row: Int64) {
        if !arena.isEmpty, let old = keys[row] { arena.discard(old) }
        keys[row] = nil
    }

    /// Takes rows out by their places, which ascend.
    mutating func remove(at places: [Int]) {
        guard !places.isEmpty else { return }
        var kept = ContiguousArray<Int64>()
        kept.reserveCapacity(rows.count - places.count)
        var next = 0
        for place in places {
            kept.append(contentsOf: rows[next..<place])
            next = place + 1
        }
        kept.append(contentsOf: rows[next...])
        rows = kept
    }

    /// Puts rows, sorted among themselves, among the others. Returns where each came to stand.
    mutating func insert(_ added: [Int64]) -> [Int] {
        guard !added.isEmpty else { return [] }
        var merged = ContiguousArray<Int64>()
        merged.reserveCapacity(rows.count + added.count)
        var places: [Int] = []
        var next = 0
        for row in added {
            let index = insertionIndex(of: row)
            merged.append(contentsOf: rows[next..<index])
            places.append(merged.count)
            merged.append(row)
            next = index
        }
        merged.append(contentsOf: rows[next...])
        rows = merged
        return places
    }

    func precedes(_ left: Int64, _ right: Int64) -> Bool {
        let (leftKey, rightKey) = (keys[left] ?? 0, keys[right] ?? 0)
        if arena.isEmpty { return leftKey < rightKey || (leftKey == rightKey && left < right) }
        let order = arena.compare(leftKey, rightKey)
        return order < 0 || (order == 0 && left < right)
    }

    /// Gives back what replaced and removed text keys took.
    mutating func compact() {
        guard arena.isMostlyWaste else { return }
        var compacted = KeyArena()
        for row in rows {
            if let old = keys[row] { keys[row] = compacted.append(arena.bytes(at: old)) }
        }
        arena = compacted
    }

    private func insertionIndex(of row: Int64) -> Int {
        partitionIndex { precedes($0, row) }
    }

    private func partitionIndex(_ isBefore: (Int64) -> Bool) -> Int {
        var low = 0
        var high = rows.count
        while low < high {
            let middle = (low + high) / 2
            if isBefore(rows[middle]) { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// Signed numbers, mapped so that their order is that of unsigned ones.
    private static func ordered(_ number: Int64) -> UInt64 {
        UInt64(bitPattern: number) ^ (1 << 63)
    }
}
