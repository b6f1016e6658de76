import SQLite

/// The changes of recent commits. The database stores them for other processes that use the cache.
///
/// `PRAGMA data_version` only tells that something changed. With these announcements, a process need not reload
/// everything.
struct Announcements {
    /// The number of commits to keep. A process that missed more commits must reload everything.
    private static let kept: Int64 = 256
    /// The largest number of changed rows to list per table.
    private static let mostRows = 1_000
    /// The number of the last announcement that this process knows.
    private var last: Int64
    /// Whether ``add(_:_:)`` has read announcements of other processes since the last ``takeOthers(_:mayBeSilent:)``.
    private var hasTakenOthers = false

    /// Starts after the latest announcement in the database.
    init(_ connection: Connection) throws {
        last = try connection.first("SELECT ifnull(max(key), 0) FROM announcement") { $0.int(0) } ?? 0
    }

    /// Announces the changes of a transaction to other processes, at its end. Returns the changes that other processes
    /// announced before.
    mutating func add(_ changes: ChangeSet, _ connection: Connection) throws -> ChangeSet {
        guard let text = Self.text(changes) else { return ChangeSet() }
        let others = try others(connection)
        try connection.run("INSERT INTO announcement (changes) VALUES (?)", text)
        last = connection.lastInsertedRow
        try connection.run("DELETE FROM announcement WHERE key <= ?", last &- Self.kept)
        hasTakenOthers = hasTakenOthers || !others.isEmpty
        return others
    }

    /// Returns the changes that other processes announced since the last call. Call this method only if another process
    /// has committed.
    ///
    /// - Parameter mayBeSilent: whether a tool may have committed without an announcement.
    mutating func takeOthers(_ connection: Connection, mayBeSilent: Bool) throws -> ChangeSet {
        let others = try others(connection)
        defer { hasTakenOthers = false }
        return others.isEmpty && !hasTakenOthers && mayBeSilent ? ChangeSet(manyOf: Schema.tables) : others
    }

    private mutating func others(_ connection: Connection) throws -> ChangeSet {
        var changes = ChangeSet()
        var expected = last &+ 1
        var isComplete = true
        try connection.forEach("SELECT key, changes FROM announcement WHERE key > ? ORDER BY key", last) { row in
            isComplete = isComplete && row.int(0) == expected
            // The fetcher can write any number, so the sum must not trap. A wrong number costs a reload.
            expected = row.int(0) &+ 1
            changes.merge(Self.changes(row.text(1)))
        }
        last = expected &- 1
        return isComplete ? changes : ChangeSet(manyOf: Schema.tables)
    }

    // MARK: - Text form: `photo:3,8 gallery:*`

    private static func text(_ changes: ChangeSet) -> String? {
        let parts = Schema.tables.compactMap { table -> String? in
            switch changes[table] {
            case nil: nil
            case .listed(let rows) where rows.count <= mostRows:
                table + ":" + rows.map(String.init).joined(separator: ",")
            case .many, .listed: table + ":*"
            }
        }
        return parts.isEmpty ? nil : parts.joined(separator: " ")
    }

    private static func changes(_ text: String) -> ChangeSet {
        var changes = ChangeSet()
        for part in text.split(separator: " ") {
            let table = String(part.prefix { $0 != ":" })
            for row in part.dropFirst(table.utf8.count + 1).split(separator: ",") {
                if let number = Int64(row) {
                    changes.insert(number, of: table)
                } else {
                    changes.merge(ChangeSet(manyOf: [table]))
                }
            }
        }
        return changes
    }
}
