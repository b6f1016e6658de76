/// Rows in the order of their sort keys, smallest first, equal ones by their number; some thirteen bytes a row for dates.
///
/// A copy shares what it can with the original: a list of hits has the keys of the list that was searched.
struct OrderedRows: Sendable {
    private var rows: RowList
    private var keys = KeyTable()
    /// The bytes of text keys; a row's entry in `keys` is then where they lie. Unused for numbers.
    private var arena = KeyArena()

    /// No rows yet.
    init(pieceSize: Int = 512) {
        rows = RowList(pieceSize: pieceSize)
    }

    var count: Int { rows.count }

    /// The row at a place.
    subscript(place: Int) -> Int64 { rows[place] }

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

    /// Where a row of the list that these were taken from would stand among them.
    func insertionIndex(of row: Int64) -> Int {
        rows.partitionIndex { precedes($0, row) }
    }

    /// How many rows have a number below this one. For rows that are sorted by number.
    func countOfRows(below number: Int64) -> Int {
        rows.partitionIndex { (keys[$0] ?? 0) < Self.ordered(number) }
    }

    /// The number that a row is sorted by.
    func number(at index: Int) -> Int64 {
        Int64(bitPattern: (keys[rows[index]] ?? 0) ^ (1 << 63))
    }

    /// Those at these places, in no order.
    func keys(in places: Range<Int>) -> KeySet {
        var keys = KeySet()
        rows.forEach(in: places) { keys.insert($0) }
        return keys
    }

    /// Those of them that are in a set, in the same order.
    func filtered(by set: KeySet) -> OrderedRows {
        var filtered = self
        filtered.rows = rows.filtered(by: set)
        return filtered
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
        rows.remove(at: places)
    }

    /// Puts rows among the others. Their keys are known.
    mutating func insert(_ added: [Int64]) {
        // Taken out while it changes, so that nothing is copied for its being looked at.
        var list = RowList()
        swap(&list, &rows)
        list.insert(added, precedes)
        swap(&list, &rows)
    }

    private func precedes(_ left: Int64, _ right: Int64) -> Bool {
        let (leftKey, rightKey) = (keys[left] ?? 0, keys[right] ?? 0)
        if arena.isEmpty { return leftKey < rightKey || (leftKey == rightKey && left < right) }
        let order = arena.compare(leftKey, rightKey)
        return order < 0 || (order == 0 && left < right)
    }

    /// Gives back what replaced and removed text keys took.
    mutating func compact() {
        guard arena.isMostlyWaste else { return }
        var (compacted, table) = (KeyArena(), KeyTable())
        rows.forEach { row in
            if let old = keys[row] { table[row] = compacted.append(arena.bytes(at: old)) }
        }
        (arena, keys) = (compacted, table)
    }

    /// Signed numbers, mapped so that their order is that of unsigned ones.
    private static func ordered(_ number: Int64) -> UInt64 {
        UInt64(bitPattern: number) ^ (1 << 63)
    }
}
