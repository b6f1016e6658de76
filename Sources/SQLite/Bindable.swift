import CSQLite

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
