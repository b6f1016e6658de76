import Numbers
import Synchronization

/// Passes events from the network's thread to the task that iterates.
///
/// It holds a few pieces of a body. When it is full, the connection is paused and TCP makes the server wait. Posted
/// events wake the listener only after ``wake()``: see ``TransferTurn``.
final class TransferMailbox: Sendable {
    private struct State {
        var response: HTTPResponse?
        var bytes: [UInt8] = []
        var written: ByteCount?
        var end: Result<HTTPMetrics, any Error>?
        var isEndTaken = false
        /// Whether the network's thread was told to wait.
        var isPaused = false
        /// The waiting listener. It waits only if there is nothing to take.
        var listener: CheckedContinuation<Void, Never>?

        var hasEvent: Bool { response != nil || !bytes.isEmpty || written != nil || end != nil }
    }

    /// The result of a take.
    enum Taken {
        case event(HTTPEvent, isSpaceFreed: Bool)
        case nothingYet
        case nothingMore
    }

    /// The most bytes that wait to be taken.
    static let capacity = 1 << 18

    private let state = Mutex(State())
    /// Whether writing to the file is over. Held during each write.
    private let isClosed = Mutex(false)

    // MARK: - The network's side

    func post(_ response: HTTPResponse) {
        state.withLock { $0.response = response }
    }

    /// Adds a piece of the body. Returns false if the mailbox is full.
    func post(_ bytes: UnsafeRawBufferPointer) -> Bool {
        state.withLock { state in
            guard state.bytes.count < Self.capacity else {
                state.isPaused = true
                return false
            }
            state.bytes.append(contentsOf: bytes)
            return true
        }
    }

    func post(written: ByteCount) {
        state.withLock { $0.written = written }
    }

    /// Writes to the body's file unless the transfer has ended. After the end, the caller may resume into the same file
    /// on another thread.
    func whileOpen(_ body: () throws(HTTPError) -> Void) throws(HTTPError) {
        try isClosed.withLock { (isClosed) throws(HTTPError) in if !isClosed { try body() } }
    }

    /// Ends the transfer. Only the first end counts. After the return nothing more is written.
    func post(end: Result<HTTPMetrics, any Error>) {
        isClosed.withLock { $0 = true }
        state.withLock { if $0.end == nil { $0.end = end } }
    }

    /// Wakes the listener if there is something to take.
    func wake() {
        let listener = state.withLock { state -> CheckedContinuation<Void, Never>? in
            guard state.hasEvent else { return nil }
            defer { state.listener = nil }
            return state.listener
        }
        listener?.resume()
    }

    // MARK: - The listener's side

    func take() throws -> Taken {
        try state.withLock { state in
            if let response = state.response {
                state.response = nil
                return .event(.response(response), isSpaceFreed: false)
            }
            if !state.bytes.isEmpty {
                defer {
                    state.bytes = []
                    state.isPaused = false
                }
                return .event(.bytes(state.bytes), isSpaceFreed: state.isPaused)
            }
            if let written = state.written {
                state.written = nil
                return .event(.written(written), isSpaceFreed: false)
            }
            guard let end = state.end else { return .nothingYet }
            guard !state.isEndTaken else { return .nothingMore }
            state.isEndTaken = true
            return .event(.end(try end.get()), isSpaceFreed: false)
        }
    }

    /// Returns when there is something to take.
    func waitForEvent() async {
        await withCheckedContinuation { continuation in
            let isReady = state.withLock { state in
                precondition(state.listener == nil, "one iteration a transfer")
                if !state.hasEvent { state.listener = continuation }
                return state.hasEvent
            }
            if isReady { continuation.resume() }
        }
    }
}

/// Collects the mailboxes to wake at the end of a turn. Used on the network's thread only.
///
/// An answer, its body and its end often come in one turn. The listener is then woken once instead of three times.
final class TransferTurn {
    private var mailboxes: [TransferMailbox] = []

    /// Adds a mailbox that has new events.
    func add(_ mailbox: TransferMailbox) {
        if mailboxes.last !== mailbox { mailboxes.append(mailbox) }
    }

    /// Wakes all listeners.
    func end() {
        for mailbox in mailboxes { mailbox.wake() }
        mailboxes.removeAll(keepingCapacity: true)
    }
}
