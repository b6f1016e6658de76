import CSQLite
import Glibc
import Synchronization

/// A connection to one database file.
///
///     let name = try connection.first("SELECT name FROM photo WHERE key = ?", key) { $0.text(0) }
///     try connection.run("UPDATE photo SET name = ? WHERE key = ?", name, key)
///
/// A connection keeps its prepared statements. It belongs to one actor and is not `Sendable`. SQLite receives all
/// values as bound parameters, never as parts of the SQL text.
public final class Connection {
    /// The way in which a connection uses the file.
    public enum Access: Sendable {
        /// The connection can only read, which SQLite enforces.
        case readOnly
        /// The connection can read and write. SQLite creates the file if it is missing.
        case readWrite
        /// The connection can only read, and SQLite creates no file beside the database. SQLite ignores the write-ahead
        /// log. Other processes must not write to the database meanwhile.
        case frozen
    }

    /// The default time to wait for another process's lock, in milliseconds.
    public static let patience: Int32 = 5_000

    /// SQLite's handle, which statements and the writer also use.
    let pointer: OpaquePointer
    private var statements: [String: Statement] = [:]
    /// The tokenizer for words, created on first use.
    private var tokenizer: WordTokenizer?
    private var collector: NumberCollector?
    /// The counts of statements and rows. Tests check the counts, so that drawing one frame of the screen needs few
    /// queries.
    public private(set) var work = Work()

    /// The work that SQLite has done over a connection.
    public struct Work: Equatable, Sendable {
        /// The number of statements that ran.
        public var statements = 0
        /// The number of rows that the statements returned.
        public var rows = 0
    }

    /// Whether a transaction is open. Transactions do not nest, so the closure of ``transaction(writes:mayWait:_:)`` is
    /// always a whole transaction.
    private(set) var isInTransaction = false

    /// Opens a database file.
    ///
    /// - Parameter patience: the time to wait for another process's lock, in milliseconds.
    public init(path: String, access: Access, patience: Int32 = Connection.patience) throws {
        guard Self.configuration == SQLITE_OK else {
            throw SQLiteError.cannotOpen(path: path, reason: "SQLite does not start (\(Self.configuration))")
        }
        // NOMUTEX: "the new database connection will use the multi-thread threading mode". A connection is used by one
        // thread at a time and needs no lock. NOFOLLOW: SQLite must not write through a symbolic link.
        let shared = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_NOFOLLOW | SQLITE_OPEN_EXRESCODE
        let flags =
            switch access {
            case .readOnly: shared | SQLITE_OPEN_READONLY
            case .readWrite: shared | SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
            case .frozen: shared | SQLITE_OPEN_READONLY | SQLITE_OPEN_URI
            }
        var pointer: OpaquePointer?
        let code = sqlite3_open_v2(access == .frozen ? Self.frozenName(path) : path, &pointer, flags, nil)
        guard code == SQLITE_OK, let pointer else {
            let reason = String(cString: sqlite3_errmsg(pointer))
            let isShort = [EMFILE, ENFILE].contains(sqlite3_system_errno(pointer))
            sqlite3_close_v2(pointer)
            throw isShort ? SQLiteError.tooFewDescriptors : SQLiteError.cannotOpen(path: path, reason: reason)
        }
        self.pointer = pointer
        sqlite3_busy_timeout(pointer, patience)
        // The file is untrusted. Its schema must not call functions or run triggers, SQL must not edit the schema
        // directly, and no value may fill the memory.
        _ = vitrine_sqlite3_db_config(pointer, SQLITE_DBCONFIG_DEFENSIVE, 1)
        _ = vitrine_sqlite3_db_config(pointer, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0)
        _ = vitrine_sqlite3_db_config(pointer, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0)
        sqlite3_limit(pointer, SQLITE_LIMIT_LENGTH, Self.longestValue)
    }

    /// Returns a URI that lets SQLite work without locks and shared memory.
    ///
    /// "The immutable parameter … indicates that the database file is stored on read-only media".
    private static func frozenName(_ path: String) -> String {
        let special: Set<UInt8> = [UInt8(ascii: "%"), UInt8(ascii: "?"), UInt8(ascii: "#")]
        let bytes = path.utf8.flatMap { byte in
            special.contains(byte) ? Array("%\(String(byte, radix: 16))".utf8) : [byte]
        }
        return "file:" + String(decoding: bytes, as: UTF8.self) + "?immutable=1"
    }

    deinit {
        statements.removeAll()
        tokenizer = nil
        sqlite3_close_v2(pointer)
        collector = nil
    }

    /// The maximum size of a text or picture in a database, in bytes.
    private static let longestValue: Int32 = 64 << 20

    /// The result of configuring SQLite for this process. The configuration turns off super-journals, and memory
    /// statistics, which take a lock twice per allocation.
    ///
    /// The configuration must happen before the first connection: "The sqlite3_config() interface … must be invoked
    /// prior to library initialization".
    private static let configuration: Int32 = {
        _ = vitrine_sqlite3_count_no_memory()
        return vitrine_sqlite3_refuse_super_journals()
    }()

    /// Runs SQL statements without values and results, such as a schema.
    public func execute(_ script: String) throws {
        let code = sqlite3_exec(pointer, script, nil, nil, nil)
        guard code == SQLITE_OK else { throw SQLiteError(code: code, database: pointer, sql: script) }
    }

    /// Runs SQL statements that edit `sqlite_schema`, SQLite's own table of the schema. Call this method in a
    /// transaction.
    ///
    /// The method also changes the schema's version, so that all connections read the schema again. SQLite's manual
    /// recommends this for such edits.
    public func executeEditingSchema(_ script: String) throws {
        _ = vitrine_sqlite3_db_config(pointer, SQLITE_DBCONFIG_DEFENSIVE, 0)
        defer { _ = vitrine_sqlite3_db_config(pointer, SQLITE_DBCONFIG_DEFENSIVE, 1) }
        let version = try first("PRAGMA schema_version") { $0.int(0) } ?? 0
        try execute("PRAGMA writable_schema = ON")
        try execute(script)
        try execute(
            "PRAGMA schema_version = \(Int32(truncatingIfNeeded: version &+ 1)); PRAGMA writable_schema = RESET")
    }

    /// Runs a statement. Returns the number of changed rows.
    @discardableResult
    public func run<each Value: Bindable>(_ sql: String, _ values: repeat each Value) throws -> Int {
        try each(sql, repeat each values) { _ in }
        return Int(sqlite3_changes(pointer))
    }

    /// Prepares a statement that a loop runs many times.
    public func repeated(_ sql: String) throws -> RepeatedStatement {
        RepeatedStatement(try Statement(sql, database: pointer))
    }

    /// The row number of the last insertion.
    public var lastInsertedRow: Int64 { sqlite3_last_insert_rowid(pointer) }

    /// Calls `row` for each row of a result.
    public func forEach<each Value: Bindable>(
        _ sql: String, _ values: repeat each Value, row: (Row) throws -> Void
    ) throws {
        try each(sql, repeat each values, row: row)
    }

    /// Returns the results of `row` for each row of a query.
    public func map<Result, each Value: Bindable>(
        _ sql: String, _ values: repeat each Value, row: (Row) throws -> Result
    ) throws -> [Result] {
        var results: [Result] = []
        try each(sql, repeat each values) { results.append(try row($0)) }
        return results
    }

    /// Calls `body` for each number of a column, faster than ``forEach(_:_:row:)``.
    ///
    ///     try connection.forEachNumber("rowid", "FROM photo_text WHERE photo_text MATCH ?", words) { hits.insert($0) }
    public func forEachNumber<each Value: Bindable>(
        _ column: String, _ rest: String, _ values: repeat each Value, body: (Int64) -> Void
    ) throws {
        let collector = try self.collector ?? NumberCollector(pointer)
        self.collector = collector
        let numbers = try collector.collect {
            try each("SELECT \(NumberCollector.name)(\(column)) \(rest)", repeat each values) { _ in }
        }
        for number in numbers { body(number) }
    }

    /// Returns the result of `row` for the first row of a query. Returns nil if there is no row.
    public func first<Result, each Value: Bindable>(
        _ sql: String, _ values: repeat each Value, row: (Row) throws -> Result
    ) throws -> Result? {
        var result: Result?
        try each(sql, repeat each values) { if result == nil { result = try row($0) } }
        return result
    }

    /// Splits a text into words as the full-text index does.
    public func words(in text: String) throws -> [WordTokenizer.Word] {
        if let tokenizer { return tokenizer.words(in: text) }
        let tokenizer = try WordTokenizer(pointer)
        self.tokenizer = tokenizer
        return tokenizer.words(in: text)
    }

    /// Runs the body in a transaction. If the body throws, the transaction is rolled back.
    ///
    /// - Parameters:
    ///   - writes: whether to take the write lock first. A transaction that starts with a read fails at its first write
    ///     if another process has written since that read.
    ///   - mayWait: returns whether to try again if another process still has the lock after the connection's patience.
    @discardableResult
    public func transaction<Result>(
        writes: Bool, mayWait: () -> Bool = { false }, _ body: () throws -> Result
    ) throws -> Result {
        precondition(!isInTransaction, "Transactions do not nest.")
        try begin(writes ? "BEGIN IMMEDIATE" : "BEGIN", mayWait)
        isInTransaction = true
        defer { isInTransaction = false }
        do {
            let result = try body()
            try execute("COMMIT")
            return result
        } catch {
            // After an I/O error or on a full disk, SQLite may have rolled back already. Then this statement fails
            // harmlessly.
            try? execute("ROLLBACK")
            throw error
        }
    }

    /// Begins a transaction. SQLite itself waits for the connection's patience before it reports a lock.
    private func begin(_ statement: String, _ mayWait: () -> Bool) throws {
        while true {
            do { return try execute(statement) } catch SQLiteError.locked where mayWait() {}
        }
    }

    private func each<each Value: Bindable>(
        _ sql: String, _ values: repeat each Value, row: (Row) throws -> Void
    ) throws {
        work.statements += 1
        try statement(sql).run(repeat each values) {
            work.rows += 1
            try row($0)
        }
    }

    /// Runs the body and interrupts its statements once `isStopped` returns true.
    ///
    /// An interrupted statement throws ``SQLiteError/interrupted`` and rolls back its transaction.
    public func interrupting<Result>(
        when isStopped: @escaping () -> Bool, _ body: () throws -> Result
    ) rethrows -> Result {
        let check = StopCheck(isStopped)
        sqlite3_progress_handler(
            pointer, Self.operationsBetweenChecks,
            { context in
                context.map { Unmanaged<StopCheck>.fromOpaque($0).takeUnretainedValue().isStopped() } == true ? 1 : 0
            }, Unmanaged.passUnretained(check).toOpaque())
        defer {
            sqlite3_progress_handler(pointer, 0, nil, nil)
            // SQLite does not retain `check`.
            withExtendedLifetime(check) {}
        }
        return try body()
    }

    /// The number of steps of SQLite's virtual machine between two checks. These steps take about a millisecond.
    private static let operationsBetweenChecks: Int32 = 100_000

    private final class StopCheck {
        let isStopped: () -> Bool
        init(_ isStopped: @escaping () -> Bool) { self.isStopped = isStopped }
    }

    private func statement(_ sql: String) throws -> Statement {
        if let kept = statements[sql] {
            // A closure for a row may run the same SQL again, and the running statement must not restart.
            return kept.isRunning ? try Statement(sql, database: pointer) : kept
        }
        let statement = try Statement(sql, database: pointer)
        statements[sql] = statement
        return statement
    }
}

extension Connection {
    /// Replaces this database by a copy of another database, in one transaction.
    ///
    /// The old contents of this database may be damaged.
    public func replaceContents(with source: Connection) throws {
        guard let backup = sqlite3_backup_init(pointer, "main", source.pointer, "main") else {
            throw SQLiteError(code: sqlite3_extended_errcode(pointer), database: pointer, sql: "backup")
        }
        let code = sqlite3_backup_step(backup, -1)
        // "If sqlite3_backup_step() … failed … the sqlite3_backup_finish() routine returns the corresponding error
        // code."
        let end = sqlite3_backup_finish(backup)
        guard code == SQLITE_DONE, end == SQLITE_OK else {
            throw SQLiteError(code: end == SQLITE_OK ? code : end, database: pointer, sql: "backup")
        }
    }
}

/// An SQL aggregate function that collects numbers for Swift.
///
/// For half a million numbers it takes half the time of a row-by-row result.
private final class NumberCollector {
    /// The function's name in SQL.
    static let name = "vitrine_collect"

    /// The numbers that the current query has collected. SQLite passes this pointer to the function.
    private let numbers = UnsafeMutablePointer<[Int64]>.allocate(capacity: 1)

    /// Registers the function. Do not use the connection after this object is released.
    init(_ database: OpaquePointer) throws(SQLiteError) {
        numbers.initialize(to: [])
        // DIRECTONLY: views and triggers of an untrusted database cannot call it.
        let code = sqlite3_create_function_v2(
            database, Self.name, 1, SQLITE_UTF8 | SQLITE_DIRECTONLY, numbers, nil,
            { context, _, values in
                guard let data = sqlite3_user_data(context), let value = values?[0] else { return }
                data.assumingMemoryBound(to: [Int64].self).pointee.append(sqlite3_value_int64(value))
            }, { sqlite3_result_null($0) }, nil)
        guard code == SQLITE_OK else { throw SQLiteError(code: code, database: database, sql: Self.name) }
    }

    deinit {
        numbers.deinitialize(count: 1)
        numbers.deallocate()
    }

    /// Runs `run`, and returns the numbers that the SQL function received.
    func collect(while run: () throws -> Void) rethrows -> [Int64] {
        defer { numbers.pointee = [] }
        try run()
        return numbers.pointee
    }
}

/// A pool of read-only connections for work off the main actor.
///
///     let bytes = try readers.read { try $0.first("SELECT data FROM thumbnail WHERE photo = ?", key) { $0.blob(0) } }
///
/// Each call has a connection of its own while its closure runs. If all connections are busy, the pool opens another
/// one. Up to `limit` unused connections stay open.
public final class ReaderPool: Sendable {
    /// An unused connection. Threads can pass the connection on, because only one caller at a time has it.
    private struct Idle: @unchecked Sendable {
        let connection: Connection
    }

    private let path: String
    private let access: Connection.Access
    private let limit: Int
    private let idle = Mutex<[Idle]>([])

    /// Creates a pool for an existing database. The pool opens connections on demand.
    public init(path: String, access: Connection.Access = .readOnly, limit: Int = 4) {
        self.path = path
        self.access = access
        self.limit = limit
    }

    /// Runs the body with a connection of the pool.
    public func read<Result>(_ body: (Connection) throws -> Result) throws -> Result {
        let reader = try idle.withLock { $0.popLast() } ?? open()
        defer {
            idle.withLock { idle in
                if idle.count < limit { idle.append(reader) }
            }
        }
        return try body(reader.connection)
    }

    private func open() throws -> Idle {
        Idle(connection: try Connection(path: path, access: access))
    }
}
