import Model

/// Row numbers sorted by key, smallest first, then by number. A list by folder is sorted by folder first, then by key
/// and number.
///
/// The list uses about ten bytes per row for dates in whole seconds, and 14 for other keys, without the bytes of texts.
/// A list divided by folder uses five more.
///
/// Copies share storage: a list of search matches uses the keys of the searched list.
struct OrderedRows: Sendable {
    private var rows: RowList
    private var keys = KeyTable()
    /// The bytes of text keys, to which the entries of `keys` refer. Empty for numeric keys.
    private var arena = KeyArena()
    /// The folders of the rows, if the list is divided by folder. Rows are sorted by folder first, then by key.
    private var folders: FolderTable?
    /// Whether the largest key comes first inside a folder. The folders themselves are never in reverse order.
    private var isReversedInFolders = false

    /// Creates an empty list.
    init(pieceSize: Int = 512) {
        rows = RowList(pieceSize: pieceSize)
    }

    /// Creates a list divided by folder.
    ///
    /// - Parameters:
    ///   - folders: the folders of the rows.
    ///   - isReversed: whether the largest key comes first inside a folder.
    ///   - sorted: calls `body` with each row, in the order of the keys.
    init(
        _ folders: FolderTable, isReversed: Bool, _ sorted: (_ body: (Int64, SortKey) -> Void) throws -> Void
    ) rethrows {
        self.init()
        var rowsOfFolder = [ContiguousArray<Int64>](repeating: [], count: folders.paths.count)
        try sorted { row, key in
            setKey(key, of: row)
            let rank = folders.rank(of: row)
            if rank >= 0 { rowsOfFolder[rank].append(row) }
        }
        for found in rowsOfFolder {
            if isReversed { found.reversed().forEach { rows.append($0) } } else { found.forEach { rows.append($0) } }
        }
        (self.folders, isReversedInFolders) = (folders, isReversed)
    }

    var count: Int { rows.count }

    /// The number of the row at an index.
    subscript(index: Int) -> Int64 { rows[index] }

    /// Appends a row at the end. Use this method to load the result of a sorted query.
    mutating func append(_ row: Int64, _ key: SortKey) {
        rows.append(row)
        setKey(key, of: row)
    }

    /// Returns the index of a row. Returns nil if the list does not contain it.
    func index(of row: Int64) -> Int? {
        guard keys[row] != nil else { return nil }
        let index = insertionIndex(of: row)
        return index < rows.count && rows[index] == row ? index : nil
    }

    /// Returns the index where a row with a known key would be inserted.
    func insertionIndex(of row: Int64) -> Int {
        rows.partitionIndex { precedes($0, row) }
    }

    /// Returns the number of rows whose numeric key is below `number`.
    func countOfRows(below number: Int64) -> Int {
        rows.partitionIndex { (keys[$0] ?? 0) < Self.ordered(number) }
    }

    /// Returns the numeric key of the row at an index.
    func number(at index: Int) -> Int64 {
        Int64(bitPattern: (keys[rows[index]] ?? 0) ^ (1 << 63))
    }

    /// Returns the folder of the row at an index, and the folder's range of indices. Returns nil if the list is not
    /// divided by folder.
    func folder(at index: Int) -> (path: FolderPath, range: Range<Int>)? {
        guard let folders, let path = folders.folder(of: rows[index]) else { return nil }
        let rank = folders.rank(of: rows[index])
        let start = rows.partitionIndex { folders.rank(of: $0) < rank }
        return (path, start..<rows.partitionIndex { folders.rank(of: $0) <= rank })
    }

    /// Returns the row numbers in a range of indices.
    func keys(in range: Range<Int>) -> KeySet {
        var keys = KeySet()
        rows.forEach(in: range) { keys.insert($0) }
        return keys
    }

    /// Returns the numbers of the rows that are in a set, in order or in reverse order.
    func members(of set: KeySet, isReversed: Bool) -> [Int64] {
        rows.members(of: set, isReversed: isReversed)
    }

    /// Returns the list's rows that are in a set, in the same order.
    func filtered(by set: KeySet) -> OrderedRows {
        var filtered = self
        filtered.rows = rows.filtered(by: set)
        return filtered
    }

    /// Whether a key equals the stored key of a row.
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

    /// Removes rows at ascending indices.
    mutating func remove(at indices: [Int]) {
        rows.remove(at: indices)
    }

    /// Inserts rows with known keys at their sorted positions.
    mutating func insert(_ added: [Int64]) {
        // The list is swapped out while it changes, so that the comparisons do not copy it.
        var list = RowList()
        swap(&list, &rows)
        list.insert(added, precedes)
        swap(&list, &rows)
    }

    private func precedes(_ left: Int64, _ right: Int64) -> Bool {
        guard let folders else { return isKeyBefore(left, right) }
        let (leftRank, rightRank) = (folders.rank(of: left), folders.rank(of: right))
        if leftRank != rightRank { return leftRank < rightRank }
        return isReversedInFolders ? isKeyBefore(right, left) : isKeyBefore(left, right)
    }

    private func isKeyBefore(_ left: Int64, _ right: Int64) -> Bool {
        let (leftKey, rightKey) = (keys[left] ?? 0, keys[right] ?? 0)
        if arena.isEmpty { return leftKey < rightKey || (leftKey == rightKey && left < right) }
        let order = arena.compare(leftKey, rightKey)
        return order < 0 || (order == 0 && left < right)
    }

    /// Frees the memory of replaced and removed text keys.
    private mutating func compact() {
        guard arena.isMostlyWaste else { return }
        var (compacted, table) = (KeyArena(), KeyTable())
        rows.forEach { row in
            if let old = keys[row] { table[row] = compacted.append(arena.bytes(at: old)) }
        }
        (arena, keys) = (compacted, table)
    }

    /// Maps signed numbers to unsigned numbers in the same order.
    private static func ordered(_ number: Int64) -> UInt64 {
        UInt64(bitPattern: number) ^ (1 << 63)
    }
}

extension OrderedRows {
    /// Applies changed keys, removals and insertions. Returns the difference to the old list.
    ///
    /// Each row costs a few binary searches and moves a few hundred rows; each call costs a pass over the pieces of the
    /// ``RowList``.
    mutating func apply(_ changes: [RowKey]) -> RowDifference {
        var removed: [(index: Int, row: Int64)] = []
        var added: [Int64] = []
        var updated: [Int64] = []
        // This comes before any key changes, because the rows are sorted by the old keys.
        let isSame = changes.map { change in
            let hasFolder = change.folder.map { folders?.folder(of: change.row) == $0 } ?? true
            return hasFolder && change.key.map { hasKey($0, change.row) } ?? false
        }
        for (change, isSame) in zip(changes, isSame) {
            switch (index(of: change.row), change.isListed) {
            case (nil, false): break
            case (let index?, false): removed.append((index, change.row))
            case (nil, true): added.append(change.row)
            case (.some, true) where isSame: updated.append(change.row)
            case (let index?, true):
                removed.append((index, change.row))
                added.append(change.row)
            }
        }
        removed.sort { $0.index < $1.index }
        remove(at: removed.map(\.index))
        for change in changes {
            if let folder = change.folder { folders?.set(folder, of: change.row) }
        }
        for (change, isSame) in zip(changes, isSame) where !isSame {
            if let key = change.key { setKey(key, of: change.row) } else { removeKey(of: change.row) }
        }
        insert(added)
        compact()
        let insertions = added.compactMap { row in index(of: row).map { (index: $0, row: row) } }.sorted { $0 < $1 }
        return difference(removed: removed, added: insertions, updated: updated)
    }

    /// Builds the difference. A row that was both removed and inserted becomes a move.
    private func difference(
        removed: [(index: Int, row: Int64)], added: [(index: Int, row: Int64)], updated: [Int64]
    ) -> RowDifference {
        var difference = RowDifference()
        var origins = Dictionary(uniqueKeysWithValues: removed.map { ($0.row, $0.index) })
        for (index, row) in added {
            if let origin = origins.removeValue(forKey: row) {
                difference.moved.append(RowDifference.Move(from: origin, to: index))
            } else {
                difference.inserted.append(index)
            }
        }
        difference.deleted = origins.values.sorted()
        difference.updated = updated.compactMap { index(of: $0) }.sorted()
        return difference
    }
}

/// The difference between an old and a new list of rows.
///
/// To apply it, first remove the deleted rows and the origins of moves, by their old indices. Then insert the new rows
/// and the targets of moves in ascending order, by their new indices.
public struct RowDifference: Equatable, Sendable {
    /// A row that moved by itself. Insertions and removals before a row do not count.
    public struct Move: Hashable, Sendable {
        /// The index of the row in the old list.
        public var from: Int
        /// The index of the row in the new list.
        public var to: Int
    }

    /// The old indices of removed rows.
    public var deleted: [Int] = []
    /// The new indices of inserted rows.
    public var inserted: [Int] = []
    /// The rows that changed their position.
    public var moved: [Move] = []
    /// The indices, in the new list, of rows whose contents changed but whose order did not.
    public var updated: [Int] = []

    /// Whether the lists have no difference.
    public var isEmpty: Bool { deleted.isEmpty && inserted.isEmpty && moved.isEmpty && updated.isEmpty }

    /// Returns the same difference for the two lists in reverse order.
    func reversed(oldCount: Int, newCount: Int) -> RowDifference {
        RowDifference(
            deleted: deleted.map { oldCount - 1 - $0 }.reversed(),
            inserted: inserted.map { newCount - 1 - $0 }.reversed(),
            moved: moved.map { Move(from: oldCount - 1 - $0.from, to: newCount - 1 - $0.to) }.reversed(),
            updated: updated.map { newCount - 1 - $0 }.reversed())
    }
}

/// The new state of a row that a commit touched.
struct RowKey {
    let row: Int64
    /// The sort key; nil if the row was deleted.
    let key: SortKey?
    /// Whether the list contains the row. A row outside the list keeps its key, for
    /// ``OrderedRows/insertionIndex(of:)``.
    let isListed: Bool
    /// The row's folder, if the list is divided by folder. A row never changes its folder.
    let folder: FolderPath?

    init(_ row: Int64, _ key: SortKey?, isListed: Bool = true, folder: FolderPath? = nil) {
        (self.row, self.key, self.isListed, self.folder) = (row, key, isListed && key != nil, folder)
    }
}

/// The value by which a list sorts its photos.
enum SortKey: Equatable {
    /// A date in milliseconds, or another number.
    case number(Int64)
    /// A name as a ``NaturalKey``.
    case text([UInt8])
}

/// The folders of rows, for a list that is divided by folder.
///
/// A folder's rank is its place in natural order. In this order, a folder comes directly before its subfolders. So
/// comparing two rows compares two numbers. The table has about five bytes per row, and a path per folder.
struct FolderTable: Sendable {
    private struct Folder: Sendable {
        let path: FolderPath
        /// The natural keys of the names on the path, and the names' bytes. The bytes order names that differ only in
        /// case.
        let names: [(key: [UInt8], bytes: [UInt8])]

        /// Whether this folder comes before another. The method compares the paths name by name: in the order of whole
        /// strings, another folder could lie between a folder and its subfolders.
        func precedes(_ other: Folder) -> Bool {
            for (name, otherName) in zip(names, other.names) {
                if name.key != otherName.key { return name.key.lexicographicallyPrecedes(otherName.key) }
                if name.bytes != otherName.bytes { return name.bytes.lexicographicallyPrecedes(otherName.bytes) }
            }
            return names.count < other.names.count
        }
    }

    private var folders: [Folder] = []
    private var numbers: [FolderPath: Int] = [:]
    /// The numbers of the folders in natural order.
    private var order: [Int] = []
    /// For each folder number, the index of the number in `order`.
    private var ranks: ContiguousArray<Int> = []
    /// For each row, the number of its folder.
    private var rows = KeyTable()
    private var naturalKey = NaturalKey()

    /// The paths of all folders, in natural order.
    var paths: [FolderPath] { order.map { folders[$0].path } }

    /// Returns the path of a row's folder. Returns nil for an unknown row.
    func folder(of row: Int64) -> FolderPath? { number(of: row).map { folders[$0].path } }

    /// Returns the rank of a row's folder. An unknown row comes first.
    func rank(of row: Int64) -> Int { number(of: row).map { ranks[$0] } ?? -1 }

    private func number(of row: Int64) -> Int? { rows[row].map { Int($0) } }

    /// Records the folder of a row. A new folder does not change the order of other folders.
    mutating func set(_ folder: FolderPath, of row: Int64) {
        rows[row] = UInt64(number(of: folder))
    }

    /// Records the folders of many rows, which is faster than one by one. The call is fastest if the rows of a folder
    /// come one after the other.
    mutating func set(_ entries: (_ body: (Int64, String) -> Void) throws -> Void) rethrows {
        var last: (folder: FolderPath, number: Int)?
        try entries { row, id in
            if let last, last.folder.holds(photo: id) { return rows[row] = UInt64(last.number) }
            let folder = FolderPath(ofPhoto: id)
            let number = numbers[folder] ?? append(folder)
            last = (folder, number)
            rows[row] = UInt64(number)
        }
        order = folders.indices.sorted { folders[$0].precedes(folders[$1]) }
        rank()
    }

    private mutating func number(of folder: FolderPath) -> Int {
        if let number = numbers[folder] { return number }
        let number = append(folder)
        var (low, high) = (0, order.count)
        while low < high {
            let middle = (low + high) / 2
            if folders[order[middle]].precedes(folders[number]) { low = middle + 1 } else { high = middle }
        }
        order.insert(number, at: low)
        rank()
        return number
    }

    private mutating func append(_ folder: FolderPath) -> Int {
        let names = folder.names.map { name in
            let bytes = Array(name.utf8)
            naturalKey.make(of: bytes[...])
            return (naturalKey.bytes, bytes)
        }
        folders.append(Folder(path: folder, names: names))
        numbers[folder] = folders.count - 1
        return folders.count - 1
    }

    private mutating func rank() {
        ranks = ContiguousArray(repeating: 0, count: folders.count)
        for (rank, number) in order.enumerated() { ranks[number] = rank }
    }
}
