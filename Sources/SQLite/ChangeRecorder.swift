import CSQLite

/// Collects the rows that one transaction touches.
///
/// SQLite calls the update hook for each row of an ordinary table. It is silent for `WITHOUT ROWID` tables, for rows
/// that `INSERT OR REPLACE` removes, and for `DELETE FROM t` without a `WHERE`, which empties the table in one stroke;
/// the schema and the statements of this program use none of the three.
final class ChangeRecorder {
    private(set) var changes = ChangeSet()

    /// Begins to listen to a connection, which must not outlive this object.
    init(_ connection: Connection) {
        sqlite3_update_hook(
            connection.pointer,
            { context, _, _, table, row in
                guard let context, let table else { return }
                Unmanaged<ChangeRecorder>.fromOpaque(context).takeUnretainedValue()
                    .changes.insert(row, of: String(cString: table))
            },
            Unmanaged.passUnretained(self).toOpaque())
    }

    /// Hands out what was collected and begins anew.
    func take() -> ChangeSet {
        defer { changes = ChangeSet() }
        return changes
    }
}
