import CSQLite

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
