import Concurrency

/// The rows that one or more commits touched, by table.
public struct ChangeSet: Coalescing, Equatable {
    /// The touched rows of one table.
    public enum Rows: Equatable, Sendable {
        /// These rows were inserted, updated or deleted.
        case listed(Set<Int64>)
        /// The rows are too many to list, or unknown. Subscribers must read the table again.
        case many
    }

    /// The maximum number of rows to list per table. For a larger change, reading the whole table again is faster.
    static let limit = 20_000

    private var tables: [String: Rows] = [:]

    /// Creates an empty set.
    public init() {}

    /// Creates a set that marks these tables as changed without listing rows.
    public init(manyOf tables: [String]) {
        self.tables = Dictionary(uniqueKeysWithValues: tables.map { ($0, .many) })
    }

    /// Whether the set contains no changes.
    public var isEmpty: Bool { tables.isEmpty }

    /// The touched rows of a table; nil if there are none.
    public subscript(table: String) -> Rows? { tables[table] }

    /// Adds one row of a table.
    public mutating func insert(_ row: Int64, of table: String) {
        guard case .listed(var rows) = tables[table] ?? .listed([]) else { return }
        // Remove the set from the dictionary while it changes, so that Swift does not copy it for each row.
        tables[table] = nil
        rows.insert(row)
        tables[table] = rows.count > Self.limit ? .many : .listed(rows)
    }

    /// Sets the rows of a table that has none yet.
    mutating func insert(_ rows: Rows, of table: String) {
        tables[table] = rows
    }

    /// Adds the rows of a later commit.
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

/// Sends the changes of each commit to all subscribers.
///
///     let changes = hub.subscribe()
///     show(try reader.rows())
///     for await change in changes { show(try reader.rows()) }
///
/// Subscribe before the first read. Then the hub also reports a commit between these two steps, at worst with rows that
/// were already read. In the other order, a subscriber could miss the commit.
public final class ChangeHub: Sendable {
    private let subscribers = Subscribers<ChangeSet>()

    /// Creates a hub without subscribers.
    public init() {}

    /// Whether there are subscribers.
    public var areWaiting: Bool { subscribers.areWaiting }

    /// Adds a subscriber. The subscription ends when the stream is released.
    public func subscribe() -> CoalescingStream<ChangeSet> {
        subscribers.subscribe()
    }

    /// Sends changes to every subscriber. Call this method after COMMIT, because subscribers then read the database at
    /// once.
    public func publish(_ changes: ChangeSet) {
        if !changes.isEmpty { subscribers.send(changes) }
    }
}
