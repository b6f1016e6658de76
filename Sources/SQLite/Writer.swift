import CSQLite
import Glibc

/// The process's only connection that writes to a database. The writer publishes its changes.
///
/// A writer belongs to one actor, whose methods are whole transactions:
///
///     func rename(_ key: Int64, to name: String) throws {
///         try writer.transaction { try $0.run("UPDATE photo SET name = ? WHERE key = ?", name, key) }
///     }
public final class Writer {
    private let connection: Connection
    private let recorder: CommitRecorder
    private let hub: ChangeHub
    private let path: String
    /// The last `data_version` of SQLite, which changes when another process commits.
    private var dataVersion: Int64 = 0

    /// The result of moving pages from the log into the database.
    public struct Checkpoint: Equatable, Sendable {
        /// The number of pages in the log.
        public let pages: Int
        /// The number of these pages that are now in the database. The number is less than `pages` if a reader still
        /// needs the log.
        public let moved: Int
    }

    /// Opens the database in write-ahead mode, in which readers never wait.
    ///
    /// - Parameter watched: the tables whose changes the writer publishes; nil for all. A full-text index has internal
    ///   tables that subscribers must not see.
    public init(path: String, hub: ChangeHub, watched: [String]? = nil) throws {
        connection = try Connection(path: path, access: .readWrite)
        self.hub = hub
        self.path = path
        try Self.switchToLog(connection)
        try connection.execute(
            """
            -- A commit returns after the log is synced, so published changes are durable.
            PRAGMA synchronous = FULL;
            -- "Errors in automatic checkpoints are swallowed", so checkpoints are run explicitly.
            PRAGMA wal_autocheckpoint = 0;
            -- If a reader kept the log from being truncated, SQLite truncates it when the log restarts.
            PRAGMA journal_size_limit = 16777216;
            -- Debian's SQLite clears each page that becomes free, and first copies it for a possible undo. FAST "will
            -- overwrite deleted content with zeros only if doing so does not increase the amount of I/O".
            PRAGMA secure_delete = FAST;
            """)
        recorder = CommitRecorder(connection, watched: watched.map { Set($0) })
        dataVersion = try connection.first("PRAGMA data_version") { $0.int(0) } ?? 0
    }

    /// Switches a new database to write-ahead mode. Other processes may do the same meanwhile.
    ///
    /// SQLite does not wait for the lock here: "If SQLite determines that invoking the busy handler could result in a
    /// deadlock, it will go ahead and return SQLITE_BUSY". So this method tries again. The failed statement has
    /// released its lock, so the other process can finish the switch, and the next attempt has nothing left to do.
    private static func switchToLog(_ connection: Connection) throws {
        let deadline = ContinuousClock.now + .milliseconds(Connection.patience)
        while true {
            do {
                return try connection.execute("PRAGMA journal_mode = WAL")
            } catch SQLiteError.locked where ContinuousClock.now < deadline {
                _ = poll(nil, 0, interval)
            }
        }
    }

    /// The time between two attempts, in milliseconds.
    private static let interval: Int32 = 10

    /// Opens a database that cannot be written to. Reads succeed, but every transaction fails.
    public init(frozen path: String, hub: ChangeHub) throws {
        connection = try Connection(path: path, access: .frozen)
        self.hub = hub
        self.path = path
        recorder = CommitRecorder(connection, watched: [])
    }

    /// Runs the body as one transaction and publishes its changes after the commit.
    ///
    /// - Parameters:
    ///   - mayWait: returns whether to try again if another process still has the lock after the connection's patience.
    ///   - last: a closure that runs at the end of the transaction, with the changes of the body. The writer also
    ///     publishes the changes that this closure returns.
    @discardableResult
    public func transaction<Result>(
        mayWait: () -> Bool = { false },
        _ body: (Connection) throws -> Result,
        last: (Connection, ChangeSet) throws -> ChangeSet = { _, _ in ChangeSet() }
    ) throws -> Result {
        _ = recorder.takeChanges()
        var changes = ChangeSet()
        let result = try connection.transaction(writes: true, mayWait: mayWait) {
            let result = try body(connection)
            changes = recorder.takeChanges()
            changes.merge(try last(connection, changes))
            return result
        }
        hub.publish(changes)
        return result
    }

    /// Publishes changes that another process made.
    public func announce(_ changes: ChangeSet) {
        hub.publish(changes)
    }

    /// Returns whether other processes have committed since the last call.
    ///
    /// "The integer values returned by two invocations of "PRAGMA data_version" from the same connection will be
    /// different if changes were committed to the database by any other connection in the interim". No other connection
    /// of this process writes. The value also changes after another process's checkpoint; see ``isLogEmpty``.
    public func othersHaveCommitted() throws -> Bool {
        let version = try connection.first("PRAGMA data_version") { $0.int(0) } ?? 0
        defer { dataVersion = version }
        return version != dataVersion
    }

    /// Whether the log file exists and is empty, as after a checkpoint.
    public var isLogEmpty: Bool {
        var status = stat()
        return stat(path + "-wal", &status) == 0 && status.st_size == 0
    }

    /// The number of pages in the write-ahead log after the last commit.
    public var pagesInLog: Int { recorder.pagesInLog }

    /// Runs reads over the writer's connection.
    public func read<Result>(_ body: (Connection) throws -> Result) throws -> Result {
        try body(connection)
    }

    /// Copies pages from the log into the database, as far as readers allow. Readers do not wait.
    ///
    /// - Parameters:
    ///   - emptying: whether to truncate the log file too, unless a reader uses it.
    ///   - patience: the time to wait for readers and other processes, in milliseconds.
    @discardableResult
    public func checkpoint(emptying: Bool = false, patience: Int32 = Connection.patience) throws -> Checkpoint {
        sqlite3_busy_timeout(connection.pointer, patience)
        defer { sqlite3_busy_timeout(connection.pointer, Connection.patience) }
        var pages: Int32 = 0
        var moved: Int32 = 0
        let mode = emptying ? SQLITE_CHECKPOINT_TRUNCATE : SQLITE_CHECKPOINT_PASSIVE
        let code = sqlite3_wal_checkpoint_v2(connection.pointer, nil, mode, &pages, &moved)
        // SQLITE_BUSY: a reader or another process is in the way. The next checkpoint continues.
        guard code == SQLITE_OK || code & 0xFF == SQLITE_BUSY else {
            throw SQLiteError(code: code, database: connection.pointer, sql: "checkpoint")
        }
        let checkpoint = Checkpoint(pages: Int(max(0, pages)), moved: Int(max(0, moved)))
        recorder.recordCheckpoint(checkpoint)
        return checkpoint
    }
}

/// Records the rows that commits touch, and the length of the write-ahead log.
///
/// SQLite calls the update hook for each row of an ordinary table. It does not call the hook for `WITHOUT ROWID`
/// tables, for rows replaced by `INSERT OR REPLACE`, or for `DELETE` without `WHERE`. This program does none of
/// this with the tables whose changes it publishes.
private final class CommitRecorder {
    /// The touched rows of one table.
    private struct Touched {
        /// The table's name as a C string. Its comparison with SQLite's name needs no conversion for each row.
        let name: [CChar]
        let isWatched: Bool
        var rows: Set<Int64> = []
        /// Whether there are too many rows to list.
        var isMany = false
    }

    private let connection: Connection
    /// The tables to record; nil for all.
    private let watched: Set<String>?
    private var touched: [Touched] = []
    /// The number of pages in the log after the last commit.
    private(set) var pagesInLog = 0

    init(_ connection: Connection, watched: Set<String>?) {
        self.connection = connection
        self.watched = watched
        let context = Unmanaged.passUnretained(self).toOpaque()
        sqlite3_update_hook(
            connection.pointer,
            { context, _, _, table, row in
                guard let context, let table else { return }
                Unmanaged<CommitRecorder>.fromOpaque(context).takeUnretainedValue().record(row, table)
            }, context)
        sqlite3_wal_hook(
            connection.pointer,
            { context, _, _, pages in
                guard let context else { return SQLITE_OK }
                Unmanaged<CommitRecorder>.fromOpaque(context).takeUnretainedValue().pagesInLog = Int(pages)
                return SQLITE_OK
            }, context)
    }

    deinit {
        // The hooks do not retain this object.
        sqlite3_update_hook(connection.pointer, nil, nil)
        sqlite3_wal_hook(connection.pointer, nil, nil)
    }

    /// Returns the recorded changes and clears the record.
    func takeChanges() -> ChangeSet {
        var changes = ChangeSet()
        for table in touched where table.isWatched {
            let name = String(decoding: table.name.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
            changes.insert(table.isMany ? .many : .listed(table.rows), of: name)
        }
        touched = []
        return changes
    }

    /// Records a touched row. An update may call this a million times.
    private func record(_ row: Int64, _ table: UnsafePointer<CChar>) {
        let index = touched.firstIndex { strcmp($0.name, table) == 0 } ?? begin(String(cString: table))
        guard touched[index].isWatched, !touched[index].isMany else { return }
        touched[index].rows.insert(row)
        guard touched[index].rows.count > ChangeSet.limit else { return }
        touched[index].isMany = true
        touched[index].rows = []
    }

    private func begin(_ table: String) -> Int {
        touched.append(Touched(name: Array(table.utf8CString), isWatched: watched?.contains(table) ?? true))
        return touched.count - 1
    }

    /// Records a checkpoint. SQLite does not call the hook for commits then, because a checkpoint commits nothing.
    func recordCheckpoint(_ checkpoint: Writer.Checkpoint) {
        if checkpoint.moved == checkpoint.pages { pagesInLog = 0 }
    }
}
