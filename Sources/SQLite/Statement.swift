import CSQLite

/// A prepared statement, run as often as one likes. Belongs to its connection and to whoever may use that.
final class Statement {
    let pointer: OpaquePointer
    private let database: OpaquePointer
    private let sql: String
    /// Set between the first step and the reset: a statement on a row must not be started over by another caller.
    private(set) var isRunning = false

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

    /// Runs to the end, handing out each row on the way.
    func run<each Value: Bindable>(_ values: repeat each Value, row: (Row) throws -> Void) throws {
        isRunning = true
        defer {
            sqlite3_reset(pointer)
            sqlite3_clear_bindings(pointer)
            isRunning = false
        }
        var index: Int32 = 0
        for value in repeat each values {
            index += 1
            try check(value.bind(to: pointer, at: index))
        }
        assert(index == sqlite3_bind_parameter_count(pointer), "as many values as ? in “\(sql)”")
        while true {
            switch sqlite3_step(pointer) {
            case SQLITE_ROW: try row(Row(statement: pointer))
            case SQLITE_DONE: return
            case let code: try check(code)
            }
        }
    }

    /// How many rows the last run changed.
    var changes: Int { Int(sqlite3_changes(database)) }

    /// Throws what a result code says; `expected` is the one that says nothing.
    func check(_ code: Int32, expected: Int32 = SQLITE_OK) throws(SQLiteError) {
        guard code == expected else { throw SQLiteError(code: code, database: database, sql: sql) }
    }
}
