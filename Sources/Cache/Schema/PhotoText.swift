import SQLite

/// The words by which photos are found: of their names, and of what they say of themselves.
///
/// The index holds no copy of the text, and so has to be told what was there before it changes: "the values … must match
/// the current content of the table", or the index no longer is what the rows say. Everything that changes a name or
/// metadata goes through here, within its transaction.
enum PhotoText {
    /// Takes a photo's words out, as they are now. Before its row, or its metadata, changes or goes.
    static func remove(_ key: Int64, _ connection: Connection) throws {
        try connection.run(
            """
            INSERT INTO photo_text (photo_text, rowid, name, words)
            SELECT 'delete', key, name, words FROM photo_words WHERE key = ?
            """, key)
    }

    /// Puts a photo's words in, as they are now.
    static func add(_ key: Int64, _ connection: Connection) throws {
        try connection.run(
            "INSERT INTO photo_text (rowid, name, words) SELECT key, name, words FROM photo_words WHERE key = ?", key)
    }

    /// Runs what changes a photo's words.
    static func whileChanging(_ key: Int64, _ connection: Connection, _ change: () throws -> Void) throws {
        try remove(key, connection)
        try change()
        try add(key, connection)
    }

    /// Makes the index anew if it does not agree with itself, or with the rows. Returns whether that was so.
    static func mend(_ connection: Connection) throws -> Bool {
        do {
            try connection.execute("INSERT INTO photo_text (photo_text, rank) VALUES ('integrity-check', 1)")
            return false
        } catch SQLiteError.damagedIndex {
            try rebuild(connection)
            return true
        }
    }

    /// Makes the index anew of what the rows say: faster than row by row where there are many, and the cure where it is
    /// damaged.
    static func rebuild(_ connection: Connection) throws {
        try connection.execute("INSERT INTO photo_text (photo_text) VALUES ('rebuild')")
    }
}
