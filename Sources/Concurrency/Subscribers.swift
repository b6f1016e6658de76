import Synchronization

/// Those who listen to one thing, each through a stream of its own.
///
/// Listening ends when a stream is let go; nobody has to sign off.
public final class Subscribers<Element: Coalescing>: Sendable {
    private struct Subscriber {
        weak var stream: CoalescingStream<Element>?
    }

    private let subscribers = Mutex<[Subscriber]>([])

    /// Makes an empty set.
    public init() {}

    /// Adds a listener.
    ///
    /// - Parameter first: what it hears at once, before anything is sent.
    public func subscribe(beginningWith first: Element? = nil) -> CoalescingStream<Element> {
        let stream = CoalescingStream<Element>()
        if let first { stream.send(first) }
        subscribers.withLock { subscribers in
            subscribers.removeAll { $0.stream == nil }
            subscribers.append(Subscriber(stream: stream))
        }
        return stream
    }

    /// Tells every listener.
    public func send(_ element: Element) {
        let streams = subscribers.withLock { $0.compactMap(\.stream) }
        for stream in streams { stream.send(element) }
    }
}
