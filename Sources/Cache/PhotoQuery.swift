import Model
import SQLite

/// The SQL behind a list of photos: which, and in what order.
struct PhotoQuery: Sendable {
    let order: PhotoOrder
    let filter: PhotoFilter

    /// Every matching row, smallest key first.
    func rows(_ reader: CacheReader) throws -> OrderedRows {
        var rows = OrderedRows()
        try reader.connection.forEach(
            "SELECT key, \(column) FROM photo WHERE \(condition) ORDER BY \(column), key", pattern
        ) { rows.append(try number(of: $0), key(of: $0)) }
        return rows
    }

    /// The first rows of the list as it is shown; they come smallest key first, as always.
    func firstRows(_ limit: Int, _ reader: CacheReader) throws -> OrderedRows {
        let direction = order.ascending ? "ASC" : "DESC"
        let found = try reader.connection.map(
            """
            SELECT key, \(column) FROM photo WHERE \(condition)
            ORDER BY \(column) \(direction), key \(direction) LIMIT ?2
            """, pattern, limit
        ) { (try number(of: $0), key(of: $0)) }
        var rows = OrderedRows()
        for (row, key) in order.ascending ? found : found.reversed() { rows.append(row, key) }
        return rows
    }

    /// The keys that rows have now; nil for those that are gone or do not match.
    func keys(of rows: Set<Int64>, _ reader: CacheReader) throws -> [(row: Int64, key: SortKey?)] {
        var found: [Int64: SortKey] = [:]
        found.reserveCapacity(rows.count)
        try reader.connection.forEach(
            """
            SELECT key, \(column) FROM photo
            WHERE (\(condition)) AND key IN (SELECT value FROM json_each(?2))
            """, pattern, "[" + rows.map(String.init).joined(separator: ",") + "]"
        ) { found[try number(of: $0)] = key(of: $0) }
        return rows.map { ($0, found[$0]) }
    }

    private var column: String {
        switch order.criterion {
        case .date: "date"
        case .name: "name_key"
        }
    }

    private var condition: String {
        // Without a filter the bound pattern is NULL, and there is nothing to look at in the row.
        filter == .all ? "?1 IS NULL" : "name LIKE ?1 ESCAPE '\\'"
    }

    private var pattern: String? {
        guard filter != .all else { return nil }
        var pattern = "%"
        for character in filter.name {
            // The three characters that LIKE does not take for themselves.
            if "%_\\".contains(character) { pattern.append("\\") }
            pattern.append(character)
        }
        return pattern + "%"
    }

    /// The lists' tables are as long as the largest number, so one that a cache never gives out is not believed.
    private func number(of row: Row) throws -> Int64 {
        let number = row.int(0)
        guard SchemaCheck.rows.contains(number) else {
            throw SQLiteError.damaged(reason: "a photo has the number \(number)")
        }
        return number
    }

    private func key(of row: Row) -> SortKey {
        switch order.criterion {
        case .date: .number(row.int(1))
        case .name: .text(row.blob(1))
        }
    }
}
