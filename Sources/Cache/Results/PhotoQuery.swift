import Model
import SQLite

/// The SQL query of a list of photos.
struct PhotoQuery: Sendable {
    let order: PhotoOrder
    let filter: PhotoFilter

    /// Returns all matching rows in ascending order.
    ///
    /// - Parameter all: the unfiltered rows in this order, if the caller already has them.
    func rows(_ reader: CacheReader, outOf all: OrderedRows? = nil) throws -> OrderedRows {
        // One transaction, so that both queries see the same state.
        try reader.connection.transaction(writes: false) {
            let hits = try reader.hits(filter)
            let all = try all ?? allRows(reader)
            return hits.map { all.filtered(by: $0) } ?? all
        }
    }

    private func allRows(_ reader: CacheReader) throws -> OrderedRows {
        var rows = OrderedRows()
        try reader.connection.forEach("SELECT key, \(column) FROM photo ORDER BY 2, 1") {
            rows.append(try number(of: $0), key(of: $0))
        }
        return rows
    }

    /// Returns the first rows of the displayed list, in ascending order. The database must have an index for the order.
    func firstRows(_ limit: Int, _ reader: CacheReader) throws -> OrderedRows {
        let direction = order.ascending ? "ASC" : "DESC"
        let found = try reader.connection.map(
            "SELECT key, \(column) FROM photo ORDER BY \(column) \(direction), key \(direction) LIMIT ?", limit
        ) { (try number(of: $0), key(of: $0)) }
        var rows = OrderedRows()
        for (row, key) in order.ascending ? found : found.reversed() { rows.append(row, key) }
        return rows
    }

    /// Returns the current sort keys of rows, and whether the filter matches them.
    func keys(of rows: Set<Int64>, _ reader: CacheReader) throws -> [RowKey] {
        try reader.connection.transaction(writes: false) {
            let hits = try reader.hits(filter, among: rows)
            var found: [Int64: SortKey] = [:]
            found.reserveCapacity(rows.count)
            try reader.connection.forEach(
                "SELECT key, \(column) FROM photo WHERE key IN (SELECT value FROM json_each(?))",
                rows.keyList
            ) { found[try number(of: $0)] = key(of: $0) }
            return rows.map { RowKey($0, found[$0], isListed: hits?.contains($0) != false) }
        }
    }

    /// Whether the database has an index for the list's order.
    var isIndexed: Bool {
        switch order.criterion {
        case .date, .name: filter == .all
        case .size, .state: false
        }
    }

    /// The SQL expression of the sort key.
    private var column: String {
        switch order.criterion {
        case .date: "date"
        case .name: "name_key"
        case .size: "ifnull(photo_size, 0)"
        case .state:
            """
            CASE WHEN photo_trouble = \(TroubleCode.bad) OR thumbnail_trouble = \(TroubleCode.bad) THEN 4
                 WHEN photo_trouble = \(TroubleCode.putOff) OR thumbnail_trouble = \(TroubleCode.putOff) THEN 3
                 WHEN photo_held NOT NULL THEN 0 WHEN thumbnail_held NOT NULL THEN 1 ELSE 2 END
            """
        }
    }

    /// Returns the row number. Throws for implausible numbers of a damaged file, because tables are as long as the
    /// largest number.
    private func number(of row: Row) throws -> Int64 {
        let number = row.int(0)
        guard SchemaCheck.rows.contains(number) else {
            throw SQLiteError.damaged(reason: "a photo has the number \(number)")
        }
        return number
    }

    private func key(of row: Row) -> SortKey {
        order.criterion == .name ? .text(row.blob(1)) : .number(row.int(1))
    }
}
