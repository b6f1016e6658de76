import Concurrency

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
