import Glibc
import Model
import SQLite

/// Saves a damaged database of which the tables themselves are whole: where the index of words alone suffered, in
/// whatever way, nothing has to be fetched again.
struct DatabaseRescue {
    let path: String
    let address: Address
    /// Where the copy is made.
    let folder: String

    /// Puts its rows into a database that is made anew, and that in its place. Returns false, with nothing changed, if rows
    /// suffered too. Nobody else may have it open.
    ///
    /// It is put there as one transaction: whoever dies on the way leaves the damaged one, to be rescued by the next.
    func attempt() throws -> Bool {
        let place = folder + "/rescued.sqlite"
        removeCopy(place)
        defer { removeCopy(place) }
        do {
            let copy = try Connection(path: place, access: .readWrite)
            try Schema.migrate(copy)
            guard try take(copy) else { return false }
            try Connection(path: path, access: .readWrite).replaceContents(with: copy)
            return true
        } catch let error as SQLiteError {
            switch error {
            // That is what is the matter with it; a header that is wrong can make it read-only too.
            case .damaged, .damagedIndex, .statement, .constraint, .cannotOpen, .readOnly, .other: return false
            case .full, .locked, .disk, .interrupted, .tooFewDescriptors: throw error
            }
        }
    }

    /// Returns whether everything was there to be taken.
    private func take(_ copy: Connection) throws -> Bool {
        try copy.run("ATTACH DATABASE ? AS damaged", path)
        guard try copy.first("PRAGMA damaged.user_version", row: { Int($0.int(0)) }) == Schema.version,
            try SchemaCheck.isLaidOutAs(copy, "damaged"),
            try copy.first("SELECT address FROM damaged.gallery", row: { $0.text(0) }) == address.text
        else { return false }
        for table in Schema.tables + ["sqlite_schema", "sqlite_sequence"] {
            // "If the argument is the name of a table, then only that table, and its indexes, are checked."
            let complaint = try copy.first("PRAGMA damaged.integrity_check(\(table))") { $0.text(0) }
            guard complaint == "ok" else { return false }
        }
        try copy.transaction(writes: true) {
            for table in Schema.tables { try copy.run("INSERT INTO main.\(table) SELECT * FROM damaged.\(table)") }
            // Numbers of photos that are gone are not given out again.
            try copy.run("DELETE FROM main.sqlite_sequence WHERE name = 'photo'")
            try copy.run("INSERT INTO main.sqlite_sequence SELECT * FROM damaged.sqlite_sequence WHERE name = 'photo'")
            try PhotoText.rebuild(copy)
        }
        try copy.execute("DETACH DATABASE damaged")
        try SchemaCheck.check(copy)
        return true
    }

    private func removeCopy(_ place: String) {
        for suffix in ["", "-journal"] { unlink(place + suffix) }
    }
}
