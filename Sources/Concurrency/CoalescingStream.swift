import Synchronization

/// A stream that merges what its listener has not taken yet.
///
/// Whatever is sent between two turns of the listener's loop arrives as one element. So the memory it takes is that of
/// one element, a thousand commits cost a screen one redraw, and a sender never waits.
///
///     for await changes in hub.subscribe() { … }
///
/// One listener a stream. Cancelling the listener's task ends its loop; the next `for await` goes on where it stopped.
public final class CoalescingStream<Element: Coalescing>: AsyncSequence, Sendable {
    private struct State {
        /// Sent and not yet taken.
        var pending: Element?
        /// Taken by a listener that has not come back for more.
        var taken: Element?
        /// The listener, if it is waiting. Never set while `pending` is. It is known by its number: who is cancelled must not
        /// end the waiting of whoever listens in its place.
        var listener: (number: Int, continuation: CheckedContinuation<Element?, Never>)?
        var lastNumber = 0
        var isFinished = false
    }

    private let state = Mutex(State())

    /// Makes a stream with nothing in it.
    public init() {}

    /// Gives the listener a value, or merges it into the one that waits for it.
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

    /// What was sent and is not done with: not taken yet, or by a listener that has not come back for more. It stays.
    public var unfinished: Element? {
        state.withLock { state in
            guard var all = state.taken else { return state.pending }
            if let pending = state.pending { all.merge(pending) }
            return all
        }
    }

    /// Ends the stream, after what is pending has been taken.
    public func finish() {
        let listener = state.withLock { state in
            state.isFinished = true
            defer { state.listener = nil }
            return state.listener
        }
        listener?.continuation.resume(returning: nil)
    }

    /// Waits for the next value; nil at the end, or when the task is cancelled. A task that is cancelled takes nothing away.
    public func next() async -> Element? {
        let number = state.withLock { state in
            state.lastNumber += 1
            return state.lastNumber
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let ready = state.withLock { state -> Element?? in
                    if Task.isCancelled { return .some(nil) }
                    precondition(state.listener == nil, "one listener a stream")
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

    /// Iterates over what is sent.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let stream: CoalescingStream

        /// Waits for the next value; nil at the end, or when the task is cancelled.
        public mutating func next() async -> Element? {
            await stream.next()
        }
    }

    /// Begins with what is pending.
    public func makeAsyncIterator() -> Iterator {
        Iterator(stream: self)
    }
}

/// A value that can take a later one into itself, so that a slow listener misses nothing and nothing queues up.
public protocol Coalescing: Sendable {
    /// Makes this value say what it and the later one said together.
    mutating func merge(_ later: Self)
}

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
