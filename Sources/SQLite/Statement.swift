import CSQLite

/// A prepared statement, which belongs to its connection.
final class Statement {
    /// SQLite's handle of the statement. Rows read their columns through this handle.
    let pointer: OpaquePointer
    private let database: OpaquePointer
    private let sql: String
    /// Whether the statement has started and has not been reset. Meanwhile, another caller must not run the statement.
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

    /// Runs the statement to its end and calls `row` for each row.
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
        assert(index == sqlite3_bind_parameter_count(pointer), "“\(sql)” needs a value for each ?.")
        while true {
            switch sqlite3_step(pointer) {
            case SQLITE_ROW: try row(Row(statement: pointer))
            case SQLITE_DONE: return
            case let code: try check(code)
            }
        }
    }

    /// The number of rows that the last run changed.
    var changes: Int { Int(sqlite3_changes(database)) }

    /// Throws an error if a result code is not the expected code.
    fileprivate func check(_ code: Int32, expected: Int32 = SQLITE_OK) throws(SQLiteError) {
        guard code == expected else { throw SQLiteError(code: code, database: database, sql: sql) }
    }
}

/// The current row of a query's result.
///
/// Read values from the row, but do not keep it: it is valid only inside its closure. Columns count from zero.
public struct Row {
    let statement: OpaquePointer

    /// Returns the column as an integer; 0 for NULL.
    public func int(_ column: Int) -> Int64 {
        sqlite3_column_int64(statement, Int32(column))
    }

    /// Returns the column as an integer. Returns nil for NULL.
    public func optionalInt(_ column: Int) -> Int64? {
        isNull(column) ? nil : int(column)
    }

    /// Returns the column as a real number. Returns nil for NULL.
    public func optionalDouble(_ column: Int) -> Double? {
        isNull(column) ? nil : sqlite3_column_double(statement, Int32(column))
    }

    /// Returns the column as text; empty for NULL. Replaces bytes that are not UTF-8.
    public func text(_ column: Int) -> String {
        // "The safest policy is to invoke … sqlite3_column_text() followed by sqlite3_column_bytes()".
        guard let bytes = sqlite3_column_text(statement, Int32(column)) else { return "" }
        let count = Int(sqlite3_column_bytes(statement, Int32(column)))
        return String(decoding: UnsafeBufferPointer(start: bytes, count: count), as: UTF8.self)
    }

    /// Returns the column as text. Returns nil for NULL.
    public func optionalText(_ column: Int) -> String? {
        isNull(column) ? nil : text(column)
    }

    /// Returns the column as bytes; empty for NULL.
    public func blob(_ column: Int) -> [UInt8] {
        guard let bytes = sqlite3_column_blob(statement, Int32(column)) else { return [] }
        return Array(UnsafeRawBufferPointer(start: bytes, count: Int(sqlite3_column_bytes(statement, Int32(column)))))
    }

    /// Returns the column as bytes. Returns nil for NULL.
    public func optionalBlob(_ column: Int) -> [UInt8]? {
        isNull(column) ? nil : blob(column)
    }

    /// Whether the column is NULL.
    public func isNull(_ column: Int) -> Bool {
        sqlite3_column_type(statement, Int32(column)) == SQLITE_NULL
    }
}

/// A value that a `?` in a statement can stand for.
public protocol Bindable {
    /// Binds the value to a parameter. Returns SQLite's result code.
    func bind(to statement: OpaquePointer, at index: Int32) -> Int32
}

extension Int64: Bindable {
    /// Binds the integer to a parameter.
    public func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
        sqlite3_bind_int64(statement, index, self)
    }
}

extension Int: Bindable {
    /// Binds the integer to a parameter.
    public func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
        sqlite3_bind_int64(statement, index, Int64(self))
    }
}

extension Double: Bindable {
    /// Binds the real number to a parameter.
    public func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
        sqlite3_bind_double(statement, index, self)
    }
}

extension String: Bindable {
    /// Binds a copy of the text. The string may be released before the statement runs.
    public func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
        withCString { vitrine_sqlite3_bind_text(statement, index, $0, Int32(utf8.count)) }
    }
}

extension Array: Bindable where Element == UInt8 {
    /// Binds a copy of the bytes as a blob.
    public func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
        withUnsafeBytes { bytes in
            bytes.isEmpty
                ? sqlite3_bind_zeroblob(statement, index, 0)
                : vitrine_sqlite3_bind_blob(statement, index, bytes.baseAddress, Int32(bytes.count))
        }
    }
}

extension Optional: Bindable where Wrapped: Bindable {
    /// Binds the value, or NULL for nil.
    public func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
        switch self {
        case .none: sqlite3_bind_null(statement, index)
        case .some(let value): value.bind(to: statement, at: index)
        }
    }
}

/// Bytes in memory that SQLite reads without a copy.
///
/// The caller keeps the bytes in place until the statement has run.
public enum Borrowed: Bindable {
    /// The bytes are UTF-8 text.
    case text(UnsafeRawBufferPointer)
    /// The bytes are a blob.
    case blob(UnsafeRawBufferPointer)

    /// Binds the bytes. An empty buffer becomes an empty value, not NULL.
    public func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
        // A nil destructor means SQLITE_STATIC: "the pointer is to memory that will remain valid".
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

/// A statement without results, for loops that run it many times.
///
///     let insert = try connection.repeated("INSERT INTO t (a, b) VALUES (?, ?)")
///     for row in rows {
///         try insert.set(0, to: row.a)
///         try insert.set(1, to: .text(row.b))
///         try insert.run()
///     }
///
/// A run needs no lookup, allocation or copy. Parameters count from zero and keep their values until these are
/// replaced.
public final class RepeatedStatement {
    private let statement: Statement

    init(_ statement: Statement) {
        self.statement = statement
    }

    /// Binds a number, or NULL for nil, to the parameter at an index.
    public func set(_ index: Int, to number: Int64?) throws(SQLiteError) {
        try statement.check(number.bind(to: statement.pointer, at: Int32(index + 1)))
    }

    /// Binds bytes, or NULL for nil. The caller keeps the bytes in place until the statement has run.
    public func set(_ index: Int, to bytes: Borrowed?) throws(SQLiteError) {
        try statement.check(bytes.bind(to: statement.pointer, at: Int32(index + 1)))
    }

    /// Runs the statement. Returns the number of changed rows.
    @discardableResult
    public func run() throws(SQLiteError) -> Int {
        defer { sqlite3_reset(statement.pointer) }
        try statement.check(sqlite3_step(statement.pointer), expected: SQLITE_DONE)
        return statement.changes
    }
}
