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
        /// The listener, if it is waiting. Never set while `pending` is.
        var listener: CheckedContinuation<Element?, Never>?
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
                return listener
            }
            if state.pending == nil { state.pending = element } else { state.pending?.merge(element) }
            return nil
        }
        listener?.resume(returning: element)
    }

    /// What was sent and has not been taken yet. It stays.
    public var pending: Element? { state.withLock { $0.pending } }

    /// Ends the stream, after what is pending has been taken.
    public func finish() {
        takeListener(finishing: true)?.resume(returning: nil)
    }

    /// Waits for the next value; nil at the end, or when the task is cancelled.
    public func next() async -> Element? {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let ready = state.withLock { state -> Element?? in
                    precondition(state.listener == nil, "one listener a stream")
                    if let pending = state.pending {
                        state.pending = nil
                        return pending
                    }
                    if state.isFinished || Task.isCancelled { return .some(nil) }
                    state.listener = continuation
                    return nil
                }
                if let ready { continuation.resume(returning: ready) }
            }
        } onCancel: {
            takeListener(finishing: false)?.resume(returning: nil)
        }
    }

    private func takeListener(finishing: Bool) -> CheckedContinuation<Element?, Never>? {
        state.withLock { state in
            if finishing { state.isFinished = true }
            defer { state.listener = nil }
            return state.listener
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
