import SQLite

/// What each commit touched, kept in the database for a while, so that other processes that have the cache open need not
/// look at everything again: `PRAGMA data_version` says that something changed, and nothing more.
struct Announcements {
    /// How many are kept. Who has missed more looks at everything.
    private static let kept: Int64 = 256
    /// Beyond so many rows of a table it is said that they are many.
    private static let mostRows = 1_000
    /// The last one that is known here, be it ours or another's.
    private var last: Int64
    /// Whether others' were taken on the way, since somebody asked for them.
    private var hasTakenOthers = false

    /// Begins to listen: what was announced before is in what is read from now on.
    init(_ connection: Connection) throws {
        last = try connection.first("SELECT ifnull(max(key), 0) FROM announcement") { $0.int(0) } ?? 0
    }

    /// Notes what a transaction touches, as the last thing in it. Returns what others announced before it.
    mutating func add(_ changes: ChangeSet, _ connection: Connection) throws -> ChangeSet {
        guard let text = Self.text(changes) else { return ChangeSet() }
        let others = try others(connection)
        try connection.run("INSERT INTO announcement (changes) VALUES (?)", text)
        last = connection.lastInsertedRow
        try connection.run("DELETE FROM announcement WHERE key <= ?", last - Self.kept)
        hasTakenOthers = hasTakenOthers || !others.isEmpty
        return others
    }

    /// What others have announced since this was last asked, given that they have done something to the database.
    ///
    /// - Parameter mayBeSilent: whether it may have been a change of which nothing was said, by some tool.
    mutating func takeOthers(_ connection: Connection, mayBeSilent: Bool) throws -> ChangeSet {
        let others = try others(connection)
        defer { hasTakenOthers = false }
        return others.isEmpty && !hasTakenOthers && mayBeSilent ? ChangeSet(manyOf: Schema.tables) : others
    }

    private mutating func others(_ connection: Connection) throws -> ChangeSet {
        var changes = ChangeSet()
        var expected = last + 1
        var isComplete = true
        try connection.forEach("SELECT key, changes FROM announcement WHERE key > ? ORDER BY key", last) { row in
            isComplete = isComplete && row.int(0) == expected
            expected = row.int(0) + 1
            changes.merge(Self.changes(row.text(1)))
        }
        last = expected - 1
        return isComplete ? changes : ChangeSet(manyOf: Schema.tables)
    }

    // MARK: - As text: `photo:3,8 gallery:*`

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
