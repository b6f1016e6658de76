import Model

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
    private func hasKey(_ key: SortKey, _ row: Int64) -> Bool {
        guard let old = keys[row] else { return false }
        return switch key {
        case .number(let number): old == Self.ordered(number)
        case .text(let bytes): arena.holds(bytes, at: old)
        }
    }

    private mutating func setKey(_ key: SortKey, of row: Int64) {
        switch key {
        case .number(let number): keys[row] = Self.ordered(number)
        case .text(let bytes):
            if let old = keys[row] { arena.discard(old) }
            keys[row] = arena.append(bytes)
        }
    }

    private mutating func removeKey(of row: Int64) {
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
    private mutating func compact() {
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

extension OrderedRows {
    /// Gives rows new keys, takes rows out and puts new ones in, and tells what that did.
    ///
    /// For each row that is touched it costs a few searches in the logarithm of the rows, and a piece of a few hundred rows
    /// moved; for all of them together, a pass over the pieces' lengths (see ``RowList``).
    mutating func apply(_ changes: [RowKey]) -> RowDifference {
        var removed: [(place: Int, row: Int64)] = []
        var added: [Int64] = []
        var updated: [Int64] = []
        // All are looked up before any key changes: until then the rows are in the order of the old keys.
        let isSame = changes.map { change in change.key.map { hasKey($0, change.row) } ?? false }
        for (change, isSame) in zip(changes, isSame) {
            switch (index(of: change.row), change.isListed) {
            case (nil, false): break
            case (let place?, false): removed.append((place, change.row))
            case (nil, true): added.append(change.row)
            case (.some, true) where isSame: updated.append(change.row)
            case (let place?, true):
                removed.append((place, change.row))
                added.append(change.row)
            }
        }
        removed.sort { $0.place < $1.place }
        remove(at: removed.map(\.place))
        for (change, isSame) in zip(changes, isSame) where !isSame {
            if let key = change.key { setKey(key, of: change.row) } else { removeKey(of: change.row) }
        }
        insert(added)
        compact()
        let places = added.compactMap { row in index(of: row).map { (place: $0, row: row) } }.sorted { $0 < $1 }
        return difference(removed: removed, added: places, updated: updated)
    }

    /// A row that went and came has moved.
    private func difference(
        removed: [(place: Int, row: Int64)], added: [(place: Int, row: Int64)], updated: [Int64]
    ) -> RowDifference {
        var difference = RowDifference()
        var origins = Dictionary(uniqueKeysWithValues: removed.map { ($0.row, $0.place) })
        for (place, row) in added {
            if let origin = origins.removeValue(forKey: row) {
                difference.moved.append(RowDifference.Move(from: origin, to: place))
            } else {
                difference.inserted.append(place)
            }
        }
        difference.deleted = origins.values.sorted()
        difference.updated = updated.compactMap { index(of: $0) }.sorted()
        return difference
    }
}

/// What makes a new list of rows out of an old one.
///
/// To apply it: take out what was deleted and what moved, counted in the old list; put in what was inserted and what
/// moved, in ascending order, counted in the new list. What was updated is counted in the new list.
public struct RowDifference: Equatable, Sendable {
    /// A row that stands elsewhere now.
    public struct Move: Hashable, Sendable {
        /// Its place in the old list.
        public var from: Int
        /// Its place in the new list.
        public var to: Int
    }

    /// Places in the old list.
    public var deleted: [Int] = []
    /// Places in the new list.
    public var inserted: [Int] = []
    /// From the old list to the new one.
    public var moved: [Move] = []
    /// Places in the new list of rows that stayed in order and look different.
    public var updated: [Int] = []

    /// Whether the two lists are the same and look the same.
    public var isEmpty: Bool { deleted.isEmpty && inserted.isEmpty && moved.isEmpty && updated.isEmpty }

    /// The same difference between the two lists turned upside down.
    func reversed(oldCount: Int, newCount: Int) -> RowDifference {
        RowDifference(
            deleted: deleted.map { oldCount - 1 - $0 }.reversed(),
            inserted: inserted.map { newCount - 1 - $0 }.reversed(),
            moved: moved.map { Move(from: oldCount - 1 - $0.from, to: newCount - 1 - $0.to) }.reversed(),
            updated: updated.map { newCount - 1 - $0 }.reversed())
    }
}

/// What became of a row that was touched.
struct RowKey {
    let row: Int64
    /// Its sort key; nil if the row is gone.
    let key: SortKey?
    /// Whether the list has it. The key of a row that it has not is kept all the same: one asks where it would stand.
    let isListed: Bool

    init(_ row: Int64, _ key: SortKey?, isListed: Bool = true) {
        (self.row, self.key, self.isListed) = (row, key, isListed && key != nil)
    }
}

/// What a photo is sorted by.
enum SortKey: Equatable {
    /// A date, in milliseconds.
    case number(Int64)
    /// A ``NaturalKey``.
    case text([UInt8])
}
