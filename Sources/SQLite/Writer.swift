import CSQLite
import Glibc

/// The one connection that writes to a database, and announces what it wrote.
///
/// Belongs to one actor, whose methods are whole transactions:
///
///     func rename(_ key: Int64, to name: String) throws {
///         try writer.transaction { try $0.run("UPDATE photo SET name = ? WHERE key = ?", name, key) }
///     }
public final class Writer {
    private let connection: Connection
    private let recorder: CommitRecorder
    private let hub: ChangeHub
    private let path: String
    /// Changes when another process commits.
    private var dataVersion: Int64 = 0

    /// What an explicit checkpoint achieved.
    public struct Checkpoint: Equatable, Sendable {
        /// Pages that were in the log.
        public let pages: Int
        /// How many of them are in the database now; fewer where a reader still needed the log.
        public let moved: Int
    }

    /// Opens the database in write-ahead mode, for readers that never wait.
    ///
    /// - Parameter watched: the tables whose changes are announced; all by default. An index of words has tables of its own,
    ///   which are nobody's business.
    public init(path: String, hub: ChangeHub, watched: [String]? = nil) throws {
        connection = try Connection(path: path, access: .readWrite)
        self.hub = hub
        self.path = path
        try Self.switchToLog(connection)
        try connection.execute(
            """
            -- What is announced is on the disk: a commit returns after the log is synced.
            PRAGMA synchronous = FULL;
            -- "Errors in automatic checkpoints are swallowed": they are run by hand, and their result is looked at.
            PRAGMA wal_autocheckpoint = 0;
            -- Where the log could not be cut to nothing because somebody read it, it is cut when it begins anew.
            PRAGMA journal_size_limit = 16777216;
            """)
        recorder = CommitRecorder(connection, watched: watched.map { Set($0) })
        dataVersion = try connection.first("PRAGMA data_version") { $0.int(0) } ?? 0
    }

    /// A fresh database is not in write-ahead mode yet, and others may be opening it at this moment.
    ///
    /// Who reads it and finds another about to change it is not made to wait: "If SQLite determines that invoking the busy
    /// handler could result in a deadlock, it will go ahead and return SQLITE_BUSY". The statement has let go of its lock by
    /// then, so that the other comes to its end, and the next attempt finds nothing left to be done.
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

    /// Milliseconds after which who was refused tries again.
    private static let interval: Int32 = 10

    /// Opens a database that cannot be written to, for who reads through a writer. Every transaction fails.
    public init(frozen path: String, hub: ChangeHub) throws {
        connection = try Connection(path: path, access: .frozen)
        self.hub = hub
        self.path = path
        recorder = CommitRecorder(connection, watched: [])
    }

    /// Runs the body as one transaction, and announces what it touched once that is on the disk.
    ///
    /// - Parameter last: does what is to be done last, still in the transaction, knowing what the body has touched. Returns
    ///   what is to be announced besides.
    @discardableResult
    public func transaction<Result>(
        _ body: (Connection) throws -> Result,
        last: (Connection, ChangeSet) throws -> ChangeSet = { _, _ in ChangeSet() }
    ) throws -> Result {
        _ = recorder.takeChanges()
        var changes = ChangeSet()
        let result = try connection.transaction(writes: true) {
            let result = try body(connection)
            changes = recorder.takeChanges()
            changes.merge(try last(connection, changes))
            return result
        }
        hub.publish(changes)
        return result
    }

    /// Announces something that this connection did not do.
    public func announce(_ changes: ChangeSet) {
        hub.publish(changes)
    }

    /// Whether other processes have committed since this was last asked.
    ///
    /// "The integer values returned by two invocations of "PRAGMA data_version" from the same connection will be different
    /// if changes were committed to the database by any other connection in the interim", and no other connection of this
    /// process writes. But so they are after another's checkpoint: see ``isLogEmpty``.
    public func othersHaveCommitted() throws -> Bool {
        let version = try connection.first("PRAGMA data_version") { $0.int(0) } ?? 0
        defer { dataVersion = version }
        return version != dataVersion
    }

    /// Whether the log's file is there and nothing is in it: as a checkpoint leaves it that was the last thing to happen.
    public var isLogEmpty: Bool {
        var status = stat()
        return stat(path + "-wal", &status) == 0 && status.st_size == 0
    }

    /// Pages that the write-ahead log held after the last commit.
    public var pagesInLog: Int { recorder.pagesInLog }

    /// Reads with what the writer sees.
    public func read<Result>(_ body: (Connection) throws -> Result) throws -> Result {
        try body(connection)
    }

    /// Moves pages from the log into the database, as far as readers allow. Readers do not wait for it.
    ///
    /// - Parameters:
    ///   - emptying: also cuts the log file to nothing, if no reader is in the way.
    ///   - patience: milliseconds to wait for those who are in the way.
    @discardableResult
    public func checkpoint(emptying: Bool = false, patience: Int32 = Connection.patience) throws -> Checkpoint {
        sqlite3_busy_timeout(connection.pointer, patience)
        defer { sqlite3_busy_timeout(connection.pointer, Connection.patience) }
        var pages: Int32 = 0
        var moved: Int32 = 0
        let mode = emptying ? SQLITE_CHECKPOINT_TRUNCATE : SQLITE_CHECKPOINT_PASSIVE
        let code = sqlite3_wal_checkpoint_v2(connection.pointer, nil, mode, &pages, &moved)
        // SQLITE_BUSY: a reader or another process is in the way. The next checkpoint goes further.
        guard code == SQLITE_OK || code & 0xFF == SQLITE_BUSY else {
            throw SQLiteError(code: code, database: connection.pointer, sql: "checkpoint")
        }
        let checkpoint = Checkpoint(pages: Int(max(0, pages)), moved: Int(max(0, moved)))
        recorder.noteCheckpoint(checkpoint)
        return checkpoint
    }
}

/// Collects what a connection's commits do: the rows they touch, and how long they make the write-ahead log.
///
/// SQLite calls the update hook for each row of an ordinary table. It is silent for `WITHOUT ROWID` tables, for rows
/// that `INSERT OR REPLACE` removes, and for `DELETE FROM t` without a `WHERE`, which empties the table in one stroke;
/// the schema and the statements of this program use none of the three.
private final class CommitRecorder {
    /// What was touched of one table.
    private struct Touched {
        /// With its zero: SQLite's own is compared with it, for each row, and no text is made of it.
        let name: [CChar]
        let isWatched: Bool
        var rows: Set<Int64> = []
        /// More than are listed.
        var isMany = false
    }

    private let connection: Connection
    /// Tables that anybody wants to hear of; nil for all.
    private let watched: Set<String>?
    private var touched: [Touched] = []
    /// As of the last commit.
    private(set) var pagesInLog = 0

    init(_ connection: Connection, watched: Set<String>?) {
        self.connection = connection
        self.watched = watched
        let context = Unmanaged.passUnretained(self).toOpaque()
        sqlite3_update_hook(
            connection.pointer,
            { context, _, _, table, row in
                guard let context, let table else { return }
                Unmanaged<CommitRecorder>.fromOpaque(context).takeUnretainedValue().note(row, table)
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
        // The hooks hold this object without owning it.
        sqlite3_update_hook(connection.pointer, nil, nil)
        sqlite3_wal_hook(connection.pointer, nil, nil)
    }

    /// Hands out what was touched and begins anew.
    func takeChanges() -> ChangeSet {
        var changes = ChangeSet()
        for table in touched where table.isWatched {
            let name = String(decoding: table.name.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
            changes.insert(table.isMany ? .many : .listed(table.rows), of: name)
        }
        touched = []
        return changes
    }

    /// Called for each row of an update, of which there may be a million.
    private func note(_ row: Int64, _ table: UnsafePointer<CChar>) {
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

    /// Called after a checkpoint, which commits nothing and so is not reported by the hook.
    func noteCheckpoint(_ checkpoint: Writer.Checkpoint) {
        if checkpoint.moved == checkpoint.pages { pagesInLog = 0 }
    }
}
