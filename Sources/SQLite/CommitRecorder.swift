import CSQLite
import Glibc

/// Collects what a connection's commits do: the rows they touch, and how long they make the write-ahead log.
///
/// SQLite calls the update hook for each row of an ordinary table. It is silent for `WITHOUT ROWID` tables, for rows
/// that `INSERT OR REPLACE` removes, and for `DELETE FROM t` without a `WHERE`, which empties the table in one stroke;
/// the schema and the statements of this program use none of the three.
final class CommitRecorder {
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
