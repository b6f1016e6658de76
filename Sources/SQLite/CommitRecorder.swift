import CSQLite

/// Collects what a connection's commits do: the rows they touch, and how long they make the write-ahead log.
///
/// SQLite calls the update hook for each row of an ordinary table. It is silent for `WITHOUT ROWID` tables, for rows
/// that `INSERT OR REPLACE` removes, and for `DELETE FROM t` without a `WHERE`, which empties the table in one stroke;
/// the schema and the statements of this program use none of the three.
final class CommitRecorder {
    private let connection: Connection
    private(set) var changes = ChangeSet()
    /// As of the last commit.
    private(set) var pagesInLog = 0

    init(_ connection: Connection) {
        self.connection = connection
        let context = Unmanaged.passUnretained(self).toOpaque()
        sqlite3_update_hook(
            connection.pointer,
            { context, _, _, table, row in
                guard let context, let table else { return }
                let recorder = Unmanaged<CommitRecorder>.fromOpaque(context).takeUnretainedValue()
                recorder.changes.insert(row, of: String(cString: table))
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
        defer { changes = ChangeSet() }
        return changes
    }

    /// Called after a checkpoint, which commits nothing and so is not reported by the hook.
    func noteCheckpoint(_ checkpoint: Writer.Checkpoint) {
        if checkpoint.moved == checkpoint.pages { pagesInLog = 0 }
    }
}
