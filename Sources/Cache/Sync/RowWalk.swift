import SQLite

/// The rows of photos in the order of their keys, beside which a list is read.
///
/// Lists mostly come in the order in which they came first, and that is the order of the keys: so the row of the next entry
/// is mostly the next row, and its digest says whether it is. A few thousand rows are looked at with one query.
struct RowWalk {
    /// Rows of one query, at first and at most: they become more as long as they are the right ones.
    private static let windows = 16...4_096

    private var keys: [Int64] = []
    private var digests: [Int64?] = []
    /// The row that comes next, in the window.
    private var place = 0
    private var size = Self.windows.lowerBound
    /// Whether there are no rows beyond the window.
    private var isLast = false
    /// Whether an entry was not the one that came next, since the window was read.
    private var hasMissed = false
    /// The row of the entry that was found elsewhere last.
    private var elsewhere: Int64?
    /// How many windows have been read.
    private(set) var queries = 0

    /// Takes the next row if it has this digest, and returns its key.
    mutating func take(_ digest: Int64, _ connection: Connection) throws -> Int64? {
        if place == keys.count, !isLast { try readWindow(after: keys.last ?? .min, connection) }
        guard place < keys.count, digests[place] == digest else {
            hasMissed = true
            return nil
        }
        defer { place += 1 }
        return keys[place]
    }

    /// Goes on behind a row whose entry came although it was not the next one.
    mutating func follow(_ key: Int64, _ connection: Connection) throws {
        if let found = window(of: key) {
            place = found + 1
        } else if let elsewhere, key == elsewhere + 1 {
            // The second one in a row that lies elsewhere: there is where the list goes on. One alone may be a photo that
            // was put in front, and the list goes on where it was.
            size = Self.windows.lowerBound
            isLast = false
            try readWindow(after: key, connection)
        }
        elsewhere = key
    }

    /// Where in the rest of the window a row is.
    private func window(of key: Int64) -> Int? {
        var (low, high) = (place, keys.count)
        while low < high {
            let middle = (low + high) / 2
            if keys[middle] < key { low = middle + 1 } else { high = middle }
        }
        return low < keys.count && keys[low] == key ? low : nil
    }

    private mutating func readWindow(after key: Int64, _ connection: Connection) throws {
        size = hasMissed ? Self.windows.lowerBound : min(size * 2, Self.windows.upperBound)
        hasMissed = false
        place = 0
        keys.removeAll(keepingCapacity: true)
        digests.removeAll(keepingCapacity: true)
        queries += 1
        try connection.forEach(
            "SELECT key, entry_digest FROM photo WHERE key > ? ORDER BY key LIMIT ?", key, size
        ) { row in
            keys.append(row.int(0))
            digests.append(row.optionalInt(1))
        }
        isLast = keys.count < size
    }
}
