import Synchronization

/// Where commits are announced.
///
/// Subscribe first, then read: a commit that lands in between is then announced, at worst about rows that were read
/// with it already. The other way round it could be missed.
///
///     let changes = hub.subscribe()
///     show(try reader.rows())
///     for await change in changes { show(try reader.rows()) }
public final class ChangeHub: Sendable {
    private struct Subscriber {
        weak var stream: CoalescingStream<ChangeSet>?
    }

    private let subscribers = Mutex<[Subscriber]>([])

    /// Makes a hub without subscribers.
    public init() {}

    /// Begins to listen. It ends when the stream is let go.
    public func subscribe() -> CoalescingStream<ChangeSet> {
        let stream = CoalescingStream<ChangeSet>()
        subscribers.withLock { subscribers in
            subscribers.removeAll { $0.stream == nil }
            subscribers.append(Subscriber(stream: stream))
        }
        return stream
    }

    /// Tells every subscriber. Called after COMMIT has returned, never before: a reader who is told must find it.
    public func publish(_ changes: ChangeSet) {
        guard !changes.isEmpty else { return }
        let streams = subscribers.withLock { subscribers in subscribers.compactMap(\.stream) }
        for stream in streams { stream.send(changes) }
    }
}
