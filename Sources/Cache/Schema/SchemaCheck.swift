import SQLite

/// Whether a database is what the migrations made of it, and its numbers are such as a cache gives out.
///
/// It looks at the schema and at the ends of indices, and so costs the same for ten photos and for a million.
enum SchemaCheck {
    /// No cache has given out more numbers than this; lists keep a table that is as long as the largest.
    static let rows = 1...Int64(Int32.max)
    /// Thirty thousand years, before and after 1970: more than a gallery can write, and nothing overflows.
    private static let latest: Int64 = 1_000_000_000_000_000

    /// Throws ``SQLiteError/damaged(reason:)`` if it is not.
    static func check(_ connection: Connection) throws {
        let expected = try Connection(path: ":memory:", access: .readWrite)
        try Schema.migrate(expected)
        let missing = try layout(expected, of: "main").subtracting(layout(connection, of: "main"))
        guard missing.isEmpty else {
            throw SQLiteError.damaged(reason: "it has no \(missing.map(name(of:)).sorted().joined(separator: ", no "))")
        }
        // Its columns are asked of the index itself: so it can be opened.
        try connection.execute("SELECT name, words FROM photo_text LIMIT 0")
        guard try hasBelievableNumbers(connection) else {
            throw SQLiteError.damaged(reason: "it holds numbers that no cache gives out")
        }
    }

    /// Whether a copy of a database has all of the tables, columns and indices that the database is to have.
    static func isLaidOutAs(_ copy: Connection, _ schema: String) throws -> Bool {
        try layout(copy, of: "main").subtracting(layout(copy, of: schema)).isEmpty
    }

    /// Every table, index and column, and of views how they are made: they are code that a damaged page changes. The columns of
    /// the index of words only it knows itself, and it may be damaged.
    private static func layout(_ connection: Connection, of schema: String) throws -> Set<String> {
        let parts = try connection.map(
            """
            SELECT type || ' ' || name || iif(type = 'view', ': ' || sql, '') FROM \(schema).sqlite_schema UNION ALL
            SELECT t.name || '.' || c.name || ' ' || c.type
            FROM \(schema).sqlite_schema AS t, pragma_table_info(t.name, ?) AS c
            WHERE t.type = 'table' AND t.name NOT GLOB 'photo_text*'
            """, schema
        ) { $0.text(0) }
        return Set(parts)
    }

    /// A part without how it is made, which nobody wants to read.
    private static func name(of part: String) -> Substring { part.prefix { $0 != ":" } }

    private static func hasBelievableNumbers(_ connection: Connection) throws -> Bool {
        // One minimum or maximum a query: then SQLite goes to the end of the index and takes it from there.
        try connection.first(
            """
            SELECT ifnull((SELECT min(key) FROM photo) >= ?1, 1) AND ifnull((SELECT max(key) FROM photo) <= ?2, 1)
               AND ifnull((SELECT max(seq) FROM sqlite_sequence WHERE name = 'photo') <= ?2, 1)
               AND ifnull((SELECT max(key) FROM announcement) > 0, 1)
               AND ifnull((SELECT min(date) FROM photo) >= -?3, 1) AND ifnull((SELECT max(date) FROM photo) <= ?3, 1)
               AND NOT EXISTS (SELECT 1 FROM gallery WHERE abs(ifnull(last_opened, 0)) > ?3
                                                        OR abs(ifnull(last_success, 0)) > ?3)
            """, rows.lowerBound, rows.upperBound, latest
        ) { $0.int(0) != 0 } ?? false
    }
}
