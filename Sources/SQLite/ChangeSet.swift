import Concurrency

/// Which rows of which tables one or more commits touched.
public struct ChangeSet: Coalescing, Equatable {
    /// Rows of one table.
    public enum Rows: Equatable, Sendable {
        /// These, whether they were inserted, updated or deleted.
        case listed(Set<Int64>)
        /// So many that it is cheaper to look at the table again.
        case many
    }

    /// Beyond this many rows of a table they are no longer listed: a first update of a million photos shall not build
    /// a set of a million numbers, only for everyone to read the table anew.
    static let limit = 20_000

    private var tables: [String: Rows] = [:]

    /// No change at all.
    public init() {}

    /// Any rows of these tables.
    public init(manyOf tables: [String]) {
        self.tables = Dictionary(uniqueKeysWithValues: tables.map { ($0, .many) })
    }

    /// Whether nothing was touched.
    public var isEmpty: Bool { tables.isEmpty }

    /// The rows of a table that were touched, or nil if none was.
    public subscript(table: String) -> Rows? { tables[table] }

    /// Notes one row.
    public mutating func insert(_ row: Int64, of table: String) {
        guard case .listed(var rows) = tables[table] ?? .listed([]) else { return }
        // Taken out while it is changed, so that the set is not copied for each row.
        tables[table] = nil
        rows.insert(row)
        tables[table] = rows.count > Self.limit ? .many : .listed(rows)
    }

    /// Notes what was touched of a table of which nothing is noted yet.
    mutating func insert(_ rows: Rows, of table: String) {
        tables[table] = rows
    }

    /// Takes in what a later commit touched.
    public mutating func merge(_ later: ChangeSet) {
        for (table, rows) in later.tables {
            guard case .listed(let old) = tables[table] ?? .listed([]), case .listed(let new) = rows else {
                tables[table] = .many
                continue
            }
            let all = old.union(new)
            tables[table] = all.count > Self.limit ? .many : .listed(all)
        }
    }
}

/// Where commits are announced.
///
/// Subscribe first, then read: a commit that lands in between is then announced, at worst about rows that were read
/// with it already. The other way round it could be missed.
///
///     let changes = hub.subscribe()
///     show(try reader.rows())
///     for await change in changes { show(try reader.rows()) }
public final class ChangeHub: Sendable {
    private let subscribers = Subscribers<ChangeSet>()

    /// Makes a hub without subscribers.
    public init() {}

    /// Begins to listen. It ends when the stream is let go.
    public func subscribe() -> CoalescingStream<ChangeSet> {
        subscribers.subscribe()
    }

    /// Tells every subscriber. Called after COMMIT has returned, never before: a reader who is told must find it.
    public func publish(_ changes: ChangeSet) {
        if !changes.isEmpty { subscribers.send(changes) }
    }
}
