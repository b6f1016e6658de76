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
    private let statement: Statement

    init(_ statement: Statement) {
        self.statement = statement
    }

    /// Puts a number in a place; NULL, where there is none.
    public func set(_ index: Int, to number: Int64?) throws(SQLiteError) {
        try statement.check(number.bind(to: statement.pointer, at: Int32(index + 1)))
    }

    /// Puts bytes in a place; NULL, where there are none. They stay where they lie until this has run.
    public func set(_ index: Int, to bytes: Borrowed?) throws(SQLiteError) {
        try statement.check(bytes.bind(to: statement.pointer, at: Int32(index + 1)))
    }

    /// Runs it. Returns how many rows it changed.
    @discardableResult
    public func run() throws(SQLiteError) -> Int {
        defer { sqlite3_reset(statement.pointer) }
        try statement.check(sqlite3_step(statement.pointer), expected: SQLITE_DONE)
        return statement.changes
    }
}
