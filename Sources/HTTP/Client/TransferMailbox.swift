import Numbers
import Synchronization

/// What lies between the network's thread and the one who iterates over a transfer.
///
/// There is room for a few pieces of a body and no more. When it is full the connection is paused, and TCP makes the
/// server wait. Who waits for news does not hear of what is posted before somebody tells him: see ``TransferTurn``.
final class TransferMailbox: Sendable {
    private struct State {
        var response: HTTPResponse?
        var bytes: [UInt8] = []
        var written: ByteCount?
        var end: Result<HTTPMetrics, any Error>?
        var isEndTaken = false
        /// Whether the network's thread was told to wait for room.
        var isPaused = false
        /// Who iterates, if waiting. Begins to wait only if there is nothing to take.
        var listener: CheckedContinuation<Void, Never>?

        var hasNews: Bool { response != nil || !bytes.isEmpty || written != nil || end != nil }
    }

    /// What there was to take.
    enum Taken {
        case event(HTTPEvent, isRoomMade: Bool)
        case nothingYet
        case nothingMore
    }

    /// Bytes that may wait to be taken.
    static let room = 1 << 18

    private let state = Mutex(State())
    /// Whether nothing is to be written to a file any more. Held while something is.
    private let isClosed = Mutex(false)

    // MARK: - The network's side

    func post(_ response: HTTPResponse) {
        state.withLock { $0.response = response }
    }

    /// Hands over a piece of the body, or refuses it for want of room.
    func post(_ bytes: UnsafeRawBufferPointer) -> Bool {
        state.withLock { state in
            guard state.bytes.count < Self.room else {
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

    /// Does something to a file that the body goes into, unless the transfer has been ended: whoever has ended it may have the
    /// rest sent into the same file, on another thread.
    func whileOpen(_ body: () throws(HTTPError) -> Void) throws(HTTPError) {
        try isClosed.withLock { (isClosed) throws(HTTPError) in if !isClosed { try body() } }
    }

    /// Ends the transfer. The first end counts. When this returns nothing is written any more.
    func post(end: Result<HTTPMetrics, any Error>) {
        isClosed.withLock { $0 = true }
        state.withLock { if $0.end == nil { $0.end = end } }
    }

    /// Wakes the one who waits, if there is news.
    func tell() {
        let listener = state.withLock { state -> CheckedContinuation<Void, Never>? in
            guard state.hasNews else { return nil }
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
                return .event(.response(response), isRoomMade: false)
            }
            if !state.bytes.isEmpty {
                defer {
                    state.bytes = []
                    state.isPaused = false
                }
                return .event(.bytes(state.bytes), isRoomMade: state.isPaused)
            }
            if let written = state.written {
                state.written = nil
                return .event(.written(written), isRoomMade: false)
            }
            guard let end = state.end else { return .nothingYet }
            guard !state.isEndTaken else { return .nothingMore }
            state.isEndTaken = true
            return .event(.end(try end.get()), isRoomMade: false)
        }
    }

    /// Returns when there is something to take.
    func waitForNews() async {
        await withCheckedContinuation { continuation in
            let isReady = state.withLock { state in
                precondition(state.listener == nil, "one iteration a transfer")
                if !state.hasNews { state.listener = continuation }
                return state.hasNews
            }
            if isReady { continuation.resume() }
        }
    }
}

/// Who is to hear of what comes in one turn of the network's thread. Touched on that thread only.
///
/// An answer, its body and its end often come in one turn. Who waits for them is woken at the turn's end, and once, in place
/// of three times while the thread goes on to post.
final class TransferTurn {
    private var mailboxes: [TransferMailbox] = []

    /// Notes that something has been posted.
    func note(_ mailbox: TransferMailbox) {
        if mailboxes.last !== mailbox { mailboxes.append(mailbox) }
    }

    /// Tells everyone.
    func end() {
        for mailbox in mailboxes { mailbox.tell() }
        mailboxes.removeAll(keepingCapacity: true)
    }
}
