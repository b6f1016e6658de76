import Model
import SQLite

/// The SQL query of a list of photos.
struct PhotoQuery: Sendable {
    let order: PhotoOrder
    let filter: PhotoFilter
    /// Whether the photos are ordered by folder first.
    var isByFolder = false

    /// Returns all matching rows in ascending order.
    ///
    /// - Parameter all: the unfiltered rows in this order, if the caller already has them.
    func rows(_ reader: CacheReader, outOf all: OrderedRows? = nil) throws -> OrderedRows {
        // Read in one transaction, so that both queries see the same state.
        try reader.connection.transaction(writes: false) {
            let hits = try reader.hits(filter)
            let all = try all ?? allRows(reader)
            return hits.map { all.filtered(by: $0) } ?? all
        }
    }

    private func allRows(_ reader: CacheReader) throws -> OrderedRows {
        if isByFolder { return try allRowsByFolder(reader) }
        var rows = OrderedRows()
        try reader.connection.forEach("SELECT key, \(column) FROM photo ORDER BY 2, 1") {
            rows.append(try number(of: $0), key(of: $0))
        }
        return rows
    }

    /// Returns all rows by folder. The two queries each read only an index; a single query would read the whole table.
    private func allRowsByFolder(_ reader: CacheReader) throws -> OrderedRows {
        var folders = FolderTable()
        try folders.set { body in
            try reader.connection.forEach("SELECT key, id FROM photo ORDER BY id") {
                body(try number(of: $0), $0.text(1))
            }
        }
        return try OrderedRows(folders, isReversed: !order.ascending) { body in
            try reader.connection.forEach("SELECT key, \(column) FROM photo ORDER BY 2, 1") {
                body(try number(of: $0), key(of: $0))
            }
        }
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
            var found: [Int64: (key: SortKey, folder: FolderPath?)] = [:]
            found.reserveCapacity(rows.count)
            try reader.connection.forEach(
                "SELECT key, \(column), \(isByFolder ? "id" : "NULL") FROM photo WHERE key IN (SELECT value FROM json_each(?))",
                rows.keyList
            ) { row in
                found[try number(of: row)] = (key(of: row), isByFolder ? FolderPath(ofPhoto: row.text(2)) : nil)
            }
            return rows.map { row in
                let state = found[row]
                return RowKey(row, state?.key, isListed: hits?.contains(row) != false, folder: state?.folder)
            }
        }
    }

    /// Whether the database has an index for the list's order. A list by folder has none, because the index of ids does
    /// not have the natural order.
    var isIndexed: Bool {
        switch order.criterion {
        case .date, .name: filter == .all && !isByFolder
        case .size, .state, .rating: false
        }
    }

    /// Whether the list shows its rows in reverse. A list by folder stores its rows in the order on the screen.
    var isReversed: Bool { !order.ascending && !isByFolder }

    /// Whether this query can filter another query's rows. The other query must have no filter and the same order.
    func canFilter(_ other: PhotoQuery) -> Bool {
        other.filter == .all && order.criterion == other.order.criterion && isByFolder == other.isByFolder
            && (!isByFolder || order == other.order)
    }

    /// The SQL expression of the sort key.
    private var column: String {
        switch order.criterion {
        case .date: "date"
        case .name: "name_key"
        case .size: "coalesce(nullif(\(Self.localSize), 0), photo_size, 0)"
        case .rating: "-ifnull(rating, 0)"
        case .state:
            // Vitrine fetches thumbnails that come into view. If a thumbnail moved its photo down, the next one would
            // come into view, until all were fetched.
            """
            CASE WHEN photo_trouble = \(TroubleCode.bad) OR thumbnail_trouble IN \(TroubleCode.allBad) THEN 4
                 WHEN photo_trouble = \(TroubleCode.putOff) OR thumbnail_trouble = \(TroubleCode.putOff) THEN 3
                 WHEN photo_held NOT NULL THEN 0 ELSE 1 END
            """
        }
    }

    /// The SQL expression of a local file's size; 0 for photos on servers.
    ///
    /// The revision of a file in a local folder begins with its size, so Vitrine need not have read the file. SQLite
    /// evaluates the subquery once for all rows.
    private static let localSize =
        "iif((SELECT address GLOB 'file:*' FROM gallery), CAST(revision AS INTEGER), 0)"

    /// Returns the row number. Throws an error for an implausible number in a damaged file, because tables are as long
    /// as the largest number.
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

/// Queries for many photos, without their states.
extension CacheReader {
    /// Returns all photos of the gallery, oldest first.
    public func allKeys() throws -> [PhotoKey] {
        try connection.map("SELECT key FROM photo ORDER BY date, key") { PhotoKey($0.int(0)) }
    }

    /// Calls `body` for each existing photo, in the order of the keys.
    ///
    /// One query reads many photos.
    public func forEachName(
        of keys: some Collection<PhotoKey>, _ body: (_ key: PhotoKey, _ id: String, _ name: String) throws -> Void
    ) throws {
        try forEach(Self.names, of: keys) { try body(PhotoKey($0.int(0)), $0.text(1), $0.text(2)) }
    }

    /// Whether the gallery has another photo with the same name, in upper or lower case.
    public func isNameShared(_ key: PhotoKey) throws -> Bool {
        // Names that differ only in the leading zeros of their numbers have equal keys, but not the same length.
        try connection.first(
            """
            SELECT 1 FROM photo AS own CROSS JOIN photo AS other ON other.name_key = own.name_key
            WHERE own.key = ? AND other.key <> own.key AND length(other.name) = length(own.name) LIMIT 1
            """, key.rawValue
        ) { _ in true } ?? false
    }

    private static let names = """
        SELECT photo.key, photo.id, photo.name
        FROM json_each(?) AS listed CROSS JOIN photo ON photo.key = listed.value
        ORDER BY listed.key
        """
}
