import CSQLite

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
