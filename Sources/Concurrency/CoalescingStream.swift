import Synchronization

/// A stream that merges elements which its listener has not taken yet.
///
///     for await changes in hub.subscribe() { … }
///
/// All elements sent between two turns of the loop arrive as one. The stream therefore holds at most one pending
/// element, a thousand commits cause one redraw, and a sender never waits.
///
/// A stream has one listener. Cancelling the listener's task ends the loop; a later `for await` continues where the
/// loop stopped.
public final class CoalescingStream<Element: Coalescing>: AsyncSequence, Sendable {
    private struct State {
        /// The element that was sent but not yet taken; nil if there is none.
        var pending: Element?
        /// The element that the listener has taken, until the listener asks for the next element.
        var taken: Element?
        /// The listener, while it waits. `pending` is nil then. The number ensures that a cancelled task ends only its
        /// own wait, not the wait of a later listener.
        var listener: (number: Int, continuation: CheckedContinuation<Element?, Never>)?
        var lastNumber = 0
        var isFinished = false
    }

    private let state = Mutex(State())

    /// Creates an empty stream.
    public init() {}

    /// Delivers an element to the listener, or merges the element into the pending element.
    public func send(_ element: Element) {
        let listener = state.withLock { state -> CheckedContinuation<Element?, Never>? in
            guard !state.isFinished else { return nil }
            if let listener = state.listener {
                state.listener = nil
                state.taken = element
                return listener.continuation
            }
            if state.pending == nil { state.pending = element } else { state.pending?.merge(element) }
            return nil
        }
        listener?.resume(returning: element)
    }

    /// The pending element, merged with the element that the listener is still handling. Reading this takes nothing
    /// from the stream.
    public var unfinished: Element? {
        state.withLock { state in
            guard var all = state.taken else { return state.pending }
            if let pending = state.pending { all.merge(pending) }
            return all
        }
    }

    /// Ends the stream after the pending element.
    public func finish() {
        let listener = state.withLock { state in
            state.isFinished = true
            defer { state.listener = nil }
            return state.listener
        }
        listener?.continuation.resume(returning: nil)
    }

    /// Returns the next element. Returns nil at the end or on cancellation. A cancelled task takes no element.
    public func next() async -> Element? {
        let number = state.withLock { state in
            state.lastNumber += 1
            return state.lastNumber
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let ready = state.withLock { state -> Element?? in
                    if Task.isCancelled { return .some(nil) }
                    precondition(state.listener == nil, "A stream has one listener.")
                    state.taken = state.pending
                    if let pending = state.pending {
                        state.pending = nil
                        return pending
                    }
                    if state.isFinished { return .some(nil) }
                    state.listener = (number, continuation)
                    return nil
                }
                if let ready { continuation.resume(returning: ready) }
            }
        } onCancel: {
            let listener = state.withLock { state -> CheckedContinuation<Element?, Never>? in
                guard let listener = state.listener, listener.number == number else { return nil }
                state.listener = nil
                return listener.continuation
            }
            listener?.resume(returning: nil)
        }
    }

    /// Iterates over the elements.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let stream: CoalescingStream

        /// Returns the next element. Returns nil at the end or on cancellation.
        public mutating func next() async -> Element? {
            await stream.next()
        }
    }

    /// Creates an iterator that starts with the pending element.
    public func makeAsyncIterator() -> Iterator {
        Iterator(stream: self)
    }
}

/// A value that can absorb a later value, so that a slow listener misses nothing.
public protocol Coalescing: Sendable {
    /// Merges a later value into this one.
    mutating func merge(_ later: Self)
}

/// An event without contents, for listeners that need to know only that something has happened.
public struct Signal: Coalescing {
    /// Creates a signal.
    public init() {}

    /// Merges a later signal; two signals are the same as one.
    public mutating func merge(_ later: Signal) {}
}

/// The listeners of one source. Each listener has its own stream.
///
/// A subscription ends when its stream is released.
public final class Subscribers<Element: Coalescing>: Sendable {
    private struct Subscriber {
        weak var stream: CoalescingStream<Element>?
    }

    private struct Listeners {
        var subscribers: [Subscriber] = []
        var relays: [WeakRelay] = []
    }

    private struct WeakRelay {
        weak var relay: Relay<Element>?
    }

    private let listeners = Mutex(Listeners())

    /// Creates a set without listeners.
    public init() {}

    /// Adds a listener.
    ///
    /// - Parameter first: an element to deliver at once.
    public func subscribe(beginningWith first: Element? = nil) -> CoalescingStream<Element> {
        let stream = CoalescingStream<Element>()
        if let first { stream.send(first) }
        listeners.withLock { listeners in
            listeners.subscribers.removeAll { $0.stream == nil }
            listeners.subscribers.append(Subscriber(stream: stream))
        }
        return stream
    }

    /// Adds a listener that gets each element before the sender continues. The listener must not block, nor call the
    /// sender.
    ///
    /// - Parameter first: an element to pass to the listener at once.
    public func relay(
        beginningWith first: Element? = nil, _ body: @escaping @Sendable (Element) -> Void
    ) -> Relay<Element> {
        let relay = Relay(body)
        if let first { body(first) }
        listeners.withLock { listeners in
            listeners.relays.removeAll { $0.relay == nil }
            listeners.relays.append(WeakRelay(relay: relay))
        }
        return relay
    }

    /// Whether there are listeners. Without listeners, a sender need not build an element.
    public var areWaiting: Bool {
        listeners.withLock { $0.subscribers.contains { $0.stream != nil } || $0.relays.contains { $0.relay != nil } }
    }

    /// Sends an element to every listener.
    public func send(_ element: Element) {
        let (streams, relays) = listeners.withLock { listeners in
            // Use closures, because in a generic type, Swift would create a key path anew at each call.
            (listeners.subscribers.compactMap { $0.stream }, listeners.relays.compactMap { $0.relay })
        }
        for relay in relays { relay.body(element) }
        for stream in streams { stream.send(element) }
    }
}

/// A subscription without a stream, which ends when it is released. See ``Subscribers/relay(beginningWith:_:)``.
public final class Relay<Element: Sendable>: Sendable {
    fileprivate let body: @Sendable (Element) -> Void

    fileprivate init(_ body: @escaping @Sendable (Element) -> Void) {
        self.body = body
    }
}
