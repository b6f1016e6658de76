import CSQLite

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
