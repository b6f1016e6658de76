import CSQLite
import Glibc
import Synchronization

/// A connection to one database file.
///
///     let name = try connection.first("SELECT name FROM photo WHERE key = ?", key) { $0.text(0) }
///     try connection.run("UPDATE photo SET name = ? WHERE key = ?", name, key)
///
/// Statements are prepared once and kept. A connection belongs to one isolation, an actor or the main actor, and is not
/// `Sendable`; the compiler keeps it there. Bound values only: no text is ever pasted into SQL.
public final class Connection {
    /// What a connection may do to the file.
    public enum Access: Sendable {
        /// Look at it. SQLite itself refuses anything else.
        case readOnly
        /// Change it, and create it where there is none.
        case readWrite
        /// Look at it where nothing can be written beside it either, as readers otherwise do. Nobody may change it
        /// meanwhile, and what its log holds is not seen.
        case frozen
    }

    /// Milliseconds to wait for another process's lock, as a rule.
    public static let patience: Int32 = 5_000

    let pointer: OpaquePointer
    private var statements: [String: Statement] = [:]
    /// Made when it is first needed.
    private var tokenizer: WordTokenizer?
    private var collector: NumberCollector?
    /// What was asked of it so far: for tests of what a frame costs.
    public private(set) var work = Work()

    /// What was asked of a connection.
    public struct Work: Equatable, Sendable {
        /// Statements that were run.
        public var statements = 0
        /// Rows that they gave.
        public var rows = 0
    }

    /// Savepoints would nest; transactions here do not, so that each one is what its caller reads.
    private(set) var isInTransaction = false

    /// Opens a database file.
    ///
    /// - Parameter patience: milliseconds to wait for another process's lock.
    public init(path: String, access: Access, patience: Int32 = Connection.patience) throws {
        Connection.countNoMemory
        // NOMUTEX: "the new database connection will use the multi-thread threading mode", that is, no lock of its
        // own. This object is never in two threads at once, and does not pay for the case.
        // NOFOLLOW: a symbolic link in the cache's place would have us write wherever it points.
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
        // A database file is input too: it may not call functions from its schema, nor edit the schema by hand.
        _ = vitrine_sqlite3_db_config(pointer, SQLITE_DBCONFIG_DEFENSIVE, 1)
        _ = vitrine_sqlite3_db_config(pointer, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0)
    }

    /// "The immutable parameter … indicates that the database file is stored on read-only media": then SQLite needs neither
    /// locks nor the file that readers share.
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

    /// SQLite counts what memory it has in use, under a lock that it takes twice for each piece. Nobody here asks.
    ///
    /// Before the first connection: "The sqlite3_config() interface … must be invoked prior to library initialization".
    private static let countNoMemory: Void = {
        _ = vitrine_sqlite3_count_no_memory()
    }()

    /// Runs statements that take no values and give no rows: a schema, a pragma.
    public func execute(_ script: String) throws {
        let code = sqlite3_exec(pointer, script, nil, nil, nil)
        guard code == SQLITE_OK else { throw SQLiteError(code: code, database: pointer, sql: script) }
    }

    /// Runs a statement and returns how many rows it changed.
    @discardableResult
    public func run<each Value: Bindable>(_ sql: String, _ values: repeat each Value) throws -> Int {
        try each(sql, repeat each values) { _ in }
        return Int(sqlite3_changes(pointer))
    }

    /// Prepares a statement for a loop.
    public func repeated(_ sql: String) throws -> RepeatedStatement {
        RepeatedStatement(try Statement(sql, database: pointer))
    }

    /// The number of the row that was inserted last, by whatever statement.
    public var lastInsertedRow: Int64 { sqlite3_last_insert_rowid(pointer) }

    /// Hands out each row of a result.
    public func forEach<each Value: Bindable>(
        _ sql: String, _ values: repeat each Value, row: (Row) throws -> Void
    ) throws {
        try each(sql, repeat each values, row: row)
    }

    /// Makes a value of each row of a result.
    public func map<Result, each Value: Bindable>(
        _ sql: String, _ values: repeat each Value, row: (Row) throws -> Result
    ) throws -> [Result] {
        var results: [Result] = []
        try each(sql, repeat each values) { results.append(try row($0)) }
        return results
    }

    /// Hands out each number of a column, which is faster than row by row where there are very many.
    ///
    ///     try connection.forEachNumber("rowid", "FROM photo_text WHERE photo_text MATCH ?", words) { hits.insert($0) }
    public func forEachNumber<each Value: Bindable>(
        _ column: String, _ rest: String, _ values: repeat each Value, body: (Int64) -> Void
    ) throws {
        let collector = try self.collector ?? NumberCollector(pointer)
        self.collector = collector
        try collector.collect(body) {
            try each("SELECT \(NumberCollector.name)(\(column)) \(rest)", repeat each values) { _ in }
        }
    }

    /// Makes a value of a result's first row, or returns nil if there is none.
    public func first<Result, each Value: Bindable>(
        _ sql: String, _ values: repeat each Value, row: (Row) throws -> Result
    ) throws -> Result? {
        var result: Result?
        try each(sql, repeat each values) { if result == nil { result = try row($0) } }
        return result
    }

    /// Words of a text, as the full-text index takes it apart and folds them.
    public func words(in text: String) throws -> [WordTokenizer.Word] {
        if let tokenizer { return tokenizer.words(in: text) }
        let tokenizer = try WordTokenizer(pointer)
        self.tokenizer = tokenizer
        return tokenizer.words(in: text)
    }

    /// Runs the body between BEGIN and COMMIT; if it throws, nothing of it has happened.
    ///
    /// - Parameter writes: takes the write lock at once. A transaction that reads first and writes later can find that
    ///   another process wrote in between, and then nothing helps but starting over.
    @discardableResult
    public func transaction<Result>(writes: Bool, _ body: () throws -> Result) throws -> Result {
        precondition(!isInTransaction, "transactions do not nest")
        try execute(writes ? "BEGIN IMMEDIATE" : "BEGIN")
        isInTransaction = true
        defer { isInTransaction = false }
        do {
            let result = try body()
            try execute("COMMIT")
            return result
        } catch {
            // A full disk or an I/O error may have rolled back already; then this fails, and that is well.
            try? execute("ROLLBACK")
            throw error
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

    /// Runs the body, and interrupts its statements when somebody wants it to stop: they throw
    /// ``SQLiteError/interrupted``, and a transaction that they are part of is undone.
    public func interrupting<Result>(
        when isStopped: @escaping () -> Bool, _ body: () throws -> Result
    ) rethrows -> Result {
        let question = Question(isStopped)
        sqlite3_progress_handler(
            pointer, Self.operationsBetweenQuestions,
            { context in
                context.map { Unmanaged<Question>.fromOpaque($0).takeUnretainedValue().isStopped() } == true ? 1 : 0
            }, Unmanaged.passUnretained(question).toOpaque())
        defer {
            sqlite3_progress_handler(pointer, 0, nil, nil)
            // SQLite holds it without owning it.
            withExtendedLifetime(question) {}
        }
        return try body()
    }

    /// Steps of SQLite's virtual machine, some hundred thousand of which take a millisecond.
    private static let operationsBetweenQuestions: Int32 = 100_000

    private final class Question {
        let isStopped: () -> Bool
        init(_ isStopped: @escaping () -> Bool) { self.isStopped = isStopped }
    }

    private func statement(_ sql: String) throws -> Statement {
        if let kept = statements[sql] {
            // Called from within its own row closure: that one keeps its place, this one gets a statement of its own.
            return kept.isRunning ? try Statement(sql, database: pointer) : kept
        }
        let statement = try Statement(sql, database: pointer)
        statements[sql] = statement
        return statement
    }
}

extension Connection {
    /// Makes the database say what another one says, page for page, as one transaction.
    ///
    /// What the database holds now is not looked at, and may be damaged.
    public func replaceContents(with source: Connection) throws {
        guard let backup = sqlite3_backup_init(pointer, "main", source.pointer, "main") else {
            throw SQLiteError(code: sqlite3_extended_errcode(pointer), database: pointer, sql: "backup")
        }
        let code = sqlite3_backup_step(backup, -1)
        // "If sqlite3_backup_step() … failed … the sqlite3_backup_finish() routine returns the corresponding error code."
        let end = sqlite3_backup_finish(backup)
        guard code == SQLITE_DONE, end == SQLITE_OK else {
            throw SQLiteError(code: end == SQLITE_OK ? code : end, database: pointer, sql: "backup")
        }
    }
}

/// An aggregate function of our own that hands each number of a result to Swift, as SQLite comes to it: a result of half a
/// million numbers takes half the time that it takes row by row.
private final class NumberCollector {
    /// What it is called in SQL.
    static let name = "vitrine_collect"

    /// Numbers that have come and were not handed on yet.
    private struct Heap {
        var count = 0
        let numbers = UnsafeMutablePointer<Int64>.allocate(capacity: capacity)
        var handOn: () -> Void = {}
    }

    private static let capacity = 4_096
    private let heap = UnsafeMutablePointer<Heap>.allocate(capacity: 1)

    /// Makes the function known to a connection, which must not be used after this is gone.
    init(_ database: OpaquePointer) throws(SQLiteError) {
        heap.initialize(to: Heap())
        // DIRECTONLY: it can be called from statements, and from no view or trigger that a database brings along.
        let code = sqlite3_create_function_v2(
            database, Self.name, 1, SQLITE_UTF8 | SQLITE_DIRECTONLY, heap, nil,
            { context, _, values in
                guard let data = sqlite3_user_data(context), let value = values?[0] else { return }
                let heap = data.assumingMemoryBound(to: Heap.self)
                heap.pointee.numbers[heap.pointee.count] = sqlite3_value_int64(value)
                heap.pointee.count += 1
                if heap.pointee.count == NumberCollector.capacity { heap.pointee.handOn() }
            }, { sqlite3_result_null($0) }, nil)
        guard code == SQLITE_OK else { throw SQLiteError(code: code, database: database, sql: Self.name) }
    }

    deinit {
        heap.pointee.numbers.deallocate()
        heap.deinitialize(count: 1)
        heap.deallocate()
    }

    /// Runs what calls the function, and hands on what it is called with.
    func collect(_ body: (Int64) -> Void, while run: () throws -> Void) rethrows {
        try withoutActuallyEscaping(body) { body in
            heap.pointee.count = 0
            heap.pointee.handOn = { [heap] in
                for index in 0..<heap.pointee.count { body(heap.pointee.numbers[index]) }
                heap.pointee.count = 0
            }
            defer { heap.pointee.handOn = {} }
            try run()
            heap.pointee.handOn()
        }
    }
}

/// Read-only connections for work off the main actor: each caller gets one for itself, for as long as its closure runs.
///
///     let bytes = try readers.read { try $0.first("SELECT data FROM thumbnail WHERE photo = ?", key) { $0.blob(0) } }
///
/// Nobody waits for anybody: when all are in use another is opened. As many stay open as `limit` says.
public final class ReaderPool: Sendable {
    /// A connection that nobody uses. It moves from one user to the next, and is in one pair of hands at a time.
    private struct Idle: @unchecked Sendable {
        let connection: Connection
    }

    private let path: String
    private let access: Connection.Access
    private let limit: Int
    private let idle = Mutex<[Idle]>([])

    /// Makes a pool for a database that exists. Connections are opened when they are first needed.
    public init(path: String, access: Connection.Access = .readOnly, limit: Int = 4) {
        self.path = path
        self.access = access
        self.limit = limit
    }

    /// Lends a connection to the body.
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
