import CSQLite
import Glibc

/// The reason why SQLite failed.
public enum SQLiteError: Error, Equatable, CustomStringConvertible {
    /// The file cannot be opened or created.
    case cannotOpen(path: String, reason: String)
    /// The file is not a database, or it is damaged.
    case damaged(reason: String)
    /// A full-text index is damaged. The tables seem intact.
    case damagedIndex(reason: String)
    /// The disk is full.
    case full
    /// The file or its disk is read-only.
    case readOnly
    /// Another process held the lock for longer than the connection waits.
    case locked
    /// The process or the system has no free file descriptor.
    case tooFewDescriptors
    /// The disk reported an error.
    case disk(reason: String)
    /// The caller interrupted the statement.
    case interrupted
    /// The change violates a constraint of the schema.
    case constraint(reason: String)
    /// The statement does not fit the database. Either the program or the file is wrong.
    case statement(sql: String, reason: String)
    /// The system has no memory for SQLite.
    case noMemory
    /// SQLite failed for another reason.
    case other(reason: String)

    /// An error message for the user.
    public var description: String {
        switch self {
        case .cannotOpen("", let reason): "The database cannot be opened: \(reason)."
        case .cannotOpen(let path, let reason): "The database \(path) cannot be opened: \(reason)."
        case .damaged(let reason): "The database is damaged: \(reason)."
        case .damagedIndex(let reason): "The database’s search index is damaged: \(reason)."
        case .full: "The disk is full."
        case .readOnly: "The database is read-only."
        case .locked: "The database is locked by another process."
        case .tooFewDescriptors: "Vitrine has too few file descriptors: raise the limit with “ulimit -n”."
        case .disk(let reason): "The disk reported an error: \(reason)."
        case .interrupted: "The search was interrupted."
        case .constraint(let reason): "The database refused the change: \(reason)."
        case .statement(let sql, let reason): "SQLite: \(reason), in “\(sql)”."
        case .noMemory: "The database cannot be used: there is too little memory."
        case .other(let reason): "The database cannot be used: \(reason)."
        }
    }

    /// Creates the error for a result code of SQLite.
    init(code: Int32, database: OpaquePointer?, sql: String) {
        let message = database.flatMap { sqlite3_errmsg($0) } ?? sqlite3_errstr(code)
        let reason = message.map { String(cString: $0) } ?? "error \(code)"
        // "The low-level error number from the operating system that caused the most recent I/O error or failure to
        // open a file". The number distinguishes a full disk from other reasons why a file cannot be created, extended
        // or synced.
        let isOfSystem = [SQLITE_IOERR, SQLITE_CANTOPEN].contains(code & 0xFF)
        let number = isOfSystem ? database.map { sqlite3_system_errno($0) } : nil
        switch number {
        case ENOSPC, EDQUOT: self = .full
        case EROFS: self = .readOnly
        case EMFILE, ENFILE: self = .tooFewDescriptors
        default: self.init(code: code, reason: reason, sql: sql)
        }
    }

    /// Whether the error means that the database or its index is damaged.
    public var isDamage: Bool {
        switch self {
        case .damaged, .damagedIndex: true
        default: false
        }
    }

    private init(code: Int32, reason: String, sql: String) {
        if code == vitrine_sqlite3_corrupt_vtab() {
            self = .damagedIndex(reason: reason)
            return
        }
        // The low byte of an extended code is the primary code.
        switch code & 0xFF {
        case SQLITE_CORRUPT, SQLITE_NOTADB: self = .damaged(reason: reason)
        case SQLITE_FULL: self = .full
        case SQLITE_READONLY, SQLITE_PERM: self = .readOnly
        case SQLITE_BUSY, SQLITE_LOCKED: self = .locked
        case SQLITE_IOERR: self = .disk(reason: "\(reason) (\(code))")
        case SQLITE_NOMEM: self = .noMemory
        case SQLITE_INTERRUPT: self = .interrupted
        case SQLITE_CONSTRAINT: self = .constraint(reason: reason)
        case SQLITE_CANTOPEN: self = .cannotOpen(path: "", reason: reason)
        case SQLITE_ERROR, SQLITE_SCHEMA, SQLITE_MISMATCH, SQLITE_FORMAT: self = .statement(sql: sql, reason: reason)
        default: self = .other(reason: reason)
        }
    }
}
