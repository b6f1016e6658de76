import SQLite

/// Inserts photos that are new.
///
/// A statement takes about as long to begin and to end as to insert a row. Of many rows it takes several.
final class PhotoInsertion {
    /// How many have been inserted. The others had an id that had come before, and the first counts.
    private(set) var count = 0
    private let connection: Connection
    private let areMany: Bool
    private let one: RepeatedStatement
    private let several: RepeatedStatement
    /// Items for the next statement.
    private var waiting: [SyncItem] = []

    private static let rows = 16
    private static let columns = [
        "id", "name", "name_key", "date", "thumbnail_address", "photo_address", "entry_digest",
    ]

    /// - Parameter areMany: whether nobody misses the words of each until all are there; see ``PhotoIndices``.
    init(_ connection: Connection, areMany: Bool) throws {
        self.connection = connection
        self.areMany = areMany
        one = try connection.repeated(Self.statement(rows: 1))
        several = try connection.repeated(Self.statement(rows: Self.rows))
    }

    func add(_ item: SyncItem) throws {
        guard areMany else { return try insert(item) }
        waiting.append(item)
        guard waiting.count == Self.rows else { return }
        for (row, item) in waiting.enumerated() { try Self.set(item, at: row, of: several) }
        count += try several.run()
        waiting.removeAll(keepingCapacity: true)
    }

    /// Inserts what still waits, before the bytes of its items go.
    func finishPiece() throws {
        for item in waiting { try insert(item) }
        waiting.removeAll(keepingCapacity: true)
    }

    private func insert(_ item: SyncItem) throws {
        try Self.set(item, at: 0, of: one)
        guard try one.run() > 0 else { return }
        count += 1
        if !areMany { try PhotoText.add(connection.lastInsertedRow, connection) }
    }

    private static func set(_ item: SyncItem, at row: Int, of statement: RepeatedStatement) throws {
        let first = row * columns.count
        try statement.set(first, to: .text(item.id))
        try statement.set(first + 1, to: .text(item.name))
        try statement.set(first + 2, to: .blob(item.nameKey))
        try statement.set(first + 3, to: item.date.milliseconds)
        try statement.set(first + 4, to: item.thumbnail.map { .text($0) })
        try statement.set(first + 5, to: .text(item.photo))
        try statement.set(first + 6, to: item.digest)
    }

    private static func statement(rows: Int) -> String {
        let row = "(" + columns.map { _ in "?" }.joined(separator: ", ") + ")"
        return """
            INSERT INTO photo (\(columns.joined(separator: ", ")))
            VALUES \(Array(repeating: row, count: rows).joined(separator: ", ")) ON CONFLICT (id) DO NOTHING
            """
    }
}
