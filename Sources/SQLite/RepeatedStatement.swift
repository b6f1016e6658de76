import CSQLite

/// A statement without rows that a loop runs very often: nothing is looked up, allocated or copied for each run.
///
///     let insert = try connection.repeated("INSERT INTO t (a, b) VALUES (?, ?)")
///     for row in rows {
///         try insert.set(0, to: row.a)
///         try insert.set(1, to: .text(row.b))
///         try insert.run()
///     }
///
/// Values are counted from zero, and stay from one run to the next until others take their place.
public final class RepeatedStatement {
    private let pointer: OpaquePointer
    private let database: OpaquePointer
    private let sql: String

    init(_ sql: String, database: OpaquePointer) throws(SQLiteError) {
        var pointer: OpaquePointer?
        let code = sqlite3_prepare_v3(database, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &pointer, nil)
        guard code == SQLITE_OK, let pointer else {
            throw SQLiteError(code: code, database: database, sql: sql)
        }
        self.pointer = pointer
        self.database = database
        self.sql = sql
    }

    deinit {
        sqlite3_finalize(pointer)
    }

    /// Puts a number in a place; NULL, where there is none.
    public func set(_ index: Int, to number: Int64?) throws(SQLiteError) {
        guard let number else { return try check(sqlite3_bind_null(pointer, Int32(index + 1))) }
        try check(sqlite3_bind_int64(pointer, Int32(index + 1), number))
    }

    /// Puts bytes in a place; NULL, where there are none. They stay where they lie until this has run.
    public func set(_ index: Int, to bytes: Borrowed?) throws(SQLiteError) {
        try check(bytes.bind(to: pointer, at: Int32(index + 1)))
    }

    /// Runs it. Returns how many rows it changed.
    @discardableResult
    public func run() throws(SQLiteError) -> Int {
        let code = sqlite3_step(pointer)
        let changed = Int(sqlite3_changes(database))
        guard code == SQLITE_DONE else {
            let error = SQLiteError(code: code, database: database, sql: sql)
            sqlite3_reset(pointer)
            throw error
        }
        sqlite3_reset(pointer)
        return changed
    }

    private func check(_ code: Int32) throws(SQLiteError) {
        guard code == SQLITE_OK else { throw SQLiteError(code: code, database: database, sql: sql) }
    }
}
