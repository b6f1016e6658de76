import Synchronization

/// Read-only connections for work off the main actor: each caller gets one for itself, for as long as its closure runs.
///
///     let bytes = try readers.read { try $0.first("SELECT data FROM thumbnail WHERE photo = ?", key) { $0.blob(0) } }
///
/// Nobody waits for anybody: when all are in use another is opened. As many stay open as `limit` says.
public final class ReaderPool: Sendable {
    /// A connection that nobody uses. It moves from one user to the next, and is in one pair of hands at a time.
    private struct Idle: @unchecked Sendable {
        let connection: Connection
    }

    private let path: String
    private let access: Connection.Access
    private let limit: Int
    private let idle = Mutex<[Idle]>([])

    /// Makes a pool for a database that exists. Connections are opened when they are first needed.
    public init(path: String, access: Connection.Access = .readOnly, limit: Int = 4) {
        self.path = path
        self.access = access
        self.limit = limit
    }

    /// Lends a connection to the body.
    public func read<Result>(_ body: (Connection) throws -> Result) throws -> Result {
        let reader = try idle.withLock { $0.popLast() } ?? open()
        defer {
            idle.withLock { idle in
                if idle.count < limit { idle.append(reader) }
            }
        }
        return try body(reader.connection)
    }

    private func open() throws -> Idle {
        Idle(connection: try Connection(path: path, access: access))
    }
}
