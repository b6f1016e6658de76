import Numbers
import Synchronization

/// Passes events from the network's thread to the task that iterates over a transfer.
///
/// The mailbox holds a few pieces of a body. When it is full, the network's thread pauses the connection, and TCP makes
/// the server wait. Posted events wake the listener only after ``wake()``: see ``TransferTurn``.
final class TransferMailbox: Sendable {
    private struct State {
        var response: HTTPResponse?
        var bytes: [UInt8] = []
        var written: ByteCount?
        var end: Result<HTTPMetrics, any Error>?
        var isEndTaken = false
        /// Whether the network's thread has to wait.
        var isPaused = false
        /// The task that waits for an event; nil if no task waits.
        var listener: CheckedContinuation<Void, Never>?

        var hasEvent: Bool { response != nil || !bytes.isEmpty || written != nil || end != nil }
    }

    /// The result of taking an event.
    enum Taken {
        case event(HTTPEvent, isSpaceFreed: Bool)
        case nothingYet
        case nothingMore
    }

    /// The maximum number of bytes of a body that the mailbox holds.
    static let capacity = 1 << 18

    private let state = Mutex(State())
    /// Whether the transfer may no longer write to the file. The lock is held during each write.
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

    /// Runs `body`, which writes to the file, unless the transfer has ended. After the end, the caller may resume into
    /// the same file on another thread.
    func whileOpen(_ body: () throws(HTTPError) -> Void) throws(HTTPError) {
        try isClosed.withLock { (isClosed) throws(HTTPError) in if !isClosed { try body() } }
    }

    /// Ends the transfer. Only the first call counts. After the return, nothing more is written to the file.
    func post(end: Result<HTTPMetrics, any Error>) {
        isClosed.withLock { $0 = true }
        state.withLock { if $0.end == nil { $0.end = end } }
    }

    /// Wakes the waiting task if there is an event.
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

    /// Waits until there is an event to take.
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

/// Collects the mailboxes to wake after one pass of the network's thread. Used on that thread only.
///
/// An answer, its body and its end often arrive in one pass. The listener then wakes once instead of three times.
final class TransferTurn {
    private var mailboxes: [TransferMailbox] = []

    /// Adds a mailbox that has new events.
    func add(_ mailbox: TransferMailbox) {
        if mailboxes.last !== mailbox { mailboxes.append(mailbox) }
    }

    /// Wakes the listeners of all collected mailboxes.
    func end() {
        for mailbox in mailboxes { mailbox.wake() }
        mailboxes.removeAll(keepingCapacity: true)
    }
}
