import SQLite

/// The indices of the table of photos that lists are read by.
///
/// Each row that is inserted goes into each of them at some place or other, so that a large update would write most of their
/// pages over and over. Sorted once and written from one end to the other, each page is written once.
enum PhotoIndices {
    /// As the migrations made them.
    private static let schema = """
        CREATE INDEX photo_by_date ON photo (date);
        CREATE INDEX photo_by_name ON photo (name_key);
        """

    /// Rows from which on it is worth it, if they are as many as are there already.
    private static let manyRows = 20_000

    /// Runs what inserts rows, without the indices if they are many. Inside of a transaction: nobody else misses them.
    ///
    /// - Parameter insert: is told whether the rows that it inserts are many. If they are not, it puts their words in itself.
    static func whileInserting(
        _ count: Int, into connection: Connection, _ insert: (_ areMany: Bool) throws -> Void
    ) throws {
        guard count >= manyRows,
            try connection.first("SELECT count(*) FROM photo", row: { Int($0.int(0)) }) ?? 0 <= count
        else { return try insert(false) }
        try connection.execute("DROP INDEX photo_by_date; DROP INDEX photo_by_name;")
        try insert(true)
        try connection.execute(schema)
        try PhotoText.rebuild(connection)
    }
}
