import Model

/// The folders of rows, for a list that is divided by folder.
///
/// A folder's rank is its place in natural order, in which a folder comes before its own folders and those before the
/// next folder. So comparing two rows compares two numbers. The table has about nine bytes per row, and a path per
/// folder.
struct FolderTable: Sendable {
    private struct Folder: Sendable {
        let path: FolderPath
        /// The names on the path: their natural keys, and their bytes for names that differ only in case.
        let names: [(key: [UInt8], bytes: [UInt8])]

        /// Compares name by name. Compared as whole strings, another folder's path could lie between a folder and its
        /// subfolders.
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

    /// Records the folder of a row. Two folders keep their order when other folders are added.
    mutating func set(_ folder: FolderPath, of row: Int64) {
        rows[row] = UInt64(number(of: folder))
    }

    /// Records the folders of many rows, which is faster than one by one. This is fastest if the rows of a folder come
    /// one after the other.
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
