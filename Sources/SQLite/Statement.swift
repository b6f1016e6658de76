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
    fileprivate func check(_ code: Int32, expected: Int32 = SQLITE_OK) throws(SQLiteError) {
        guard code == expected else { throw SQLiteError(code: code, database: database, sql: sql) }
    }
}

/// One row of a result, while the statement stands on it.
///
/// A row is a view and must not be kept beyond the closure that it was handed to: take values out of it. Columns are
/// counted from zero.
public struct Row {
    let statement: OpaquePointer

    /// The column as an integer; zero for NULL.
    public func int(_ column: Int) -> Int64 {
        sqlite3_column_int64(statement, Int32(column))
    }

    /// The column as an integer, or nil for NULL.
    public func optionalInt(_ column: Int) -> Int64? {
        isNull(column) ? nil : int(column)
    }

    /// The column as a real number, or nil for NULL.
    public func optionalDouble(_ column: Int) -> Double? {
        isNull(column) ? nil : sqlite3_column_double(statement, Int32(column))
    }

    /// The column as text; empty for NULL. Bytes that are not UTF-8 are repaired.
    public func text(_ column: Int) -> String {
        // sqlite3_column_bytes is asked after sqlite3_column_text: "the safest policy is to invoke …
        // sqlite3_column_text() followed by sqlite3_column_bytes()".
        guard let bytes = sqlite3_column_text(statement, Int32(column)) else { return "" }
        let count = Int(sqlite3_column_bytes(statement, Int32(column)))
        return String(decoding: UnsafeBufferPointer(start: bytes, count: count), as: UTF8.self)
    }

    /// The column as text, or nil for NULL.
    public func optionalText(_ column: Int) -> String? {
        isNull(column) ? nil : text(column)
    }

    /// The column's bytes; empty for NULL.
    public func blob(_ column: Int) -> [UInt8] {
        guard let bytes = sqlite3_column_blob(statement, Int32(column)) else { return [] }
        return Array(UnsafeRawBufferPointer(start: bytes, count: Int(sqlite3_column_bytes(statement, Int32(column)))))
    }

    /// The column's bytes, or nil for NULL.
    public func optionalBlob(_ column: Int) -> [UInt8]? {
        isNull(column) ? nil : blob(column)
    }

    /// Whether the column is NULL.
    public func isNull(_ column: Int) -> Bool {
        sqlite3_column_type(statement, Int32(column)) == SQLITE_NULL
    }
}

/// A value that can stand for a `?` in a statement.
public protocol Bindable {
    /// Binds the value; the result code is SQLite's.
    func bind(to statement: OpaquePointer, at index: Int32) -> Int32
}

extension Int64: Bindable {
    /// As an integer.
    public func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
        sqlite3_bind_int64(statement, index, self)
    }
}

extension Int: Bindable {
    /// As an integer.
    public func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
        sqlite3_bind_int64(statement, index, Int64(self))
    }
}

extension Double: Bindable {
    /// As a real number.
    public func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
        sqlite3_bind_double(statement, index, self)
    }
}

extension String: Bindable {
    /// As text, copied: the string may be gone before the statement has run.
    public func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
        withCString { vitrine_sqlite3_bind_text(statement, index, $0, Int32(utf8.count)) }
    }
}

extension Array: Bindable where Element == UInt8 {
    /// As a blob, copied.
    public func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
        withUnsafeBytes { bytes in
            bytes.isEmpty
                ? sqlite3_bind_zeroblob(statement, index, 0)
                : vitrine_sqlite3_bind_blob(statement, index, bytes.baseAddress, Int32(bytes.count))
        }
    }
}

extension Optional: Bindable where Wrapped: Bindable {
    /// NULL, where there is no value.
    public func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
        switch self {
        case .none: sqlite3_bind_null(statement, index)
        case .some(let value): value.bind(to: statement, at: index)
        }
    }
}

/// Bytes that lie somewhere in memory, to stand for a `?` without being copied: as text or as a blob.
///
/// Whoever binds them keeps them where they are until the statement has run.
public enum Borrowed: Bindable {
    /// UTF-8.
    case text(UnsafeRawBufferPointer)
    /// Just bytes.
    case blob(UnsafeRawBufferPointer)

    /// As text or as a blob; one of no bytes is empty, not NULL.
    public func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
        // No destructor is SQLITE_STATIC: "the pointer is to memory that will remain valid".
        switch self {
        case .text(let bytes):
            guard let start = bytes.baseAddress, !bytes.isEmpty else { return "".bind(to: statement, at: index) }
            return sqlite3_bind_text(
                statement, index, start.assumingMemoryBound(to: CChar.self), Int32(bytes.count), nil)
        case .blob(let bytes):
            guard let start = bytes.baseAddress, !bytes.isEmpty else {
                return sqlite3_bind_zeroblob(statement, index, 0)
            }
            return sqlite3_bind_blob(statement, index, start, Int32(bytes.count), nil)
        }
    }
}

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
