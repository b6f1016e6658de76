import Synchronization

/// What lies between the network's thread and the one who iterates over a transfer.
///
/// There is room for a few pieces of a body and no more. When it is full the connection is paused, and TCP makes the
/// server wait.
final class TransferMailbox: Sendable {
    private struct State {
        var response: HTTPResponse?
        var bytes: [UInt8] = []
        var written: Int64?
        var end: Result<HTTPMetrics, any Error>?
        var isEndTaken = false
        /// Whether the network's thread was told to wait for room.
        var isPaused = false
        /// Who iterates, if waiting. Never set while there is something to take.
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

    // MARK: - The network's side

    func post(_ response: HTTPResponse) {
        change { $0.response = response }
    }

    /// Hands over a piece of the body, or refuses it for want of room.
    func post(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var isTaken = true
        change { state in
            if state.bytes.count >= Self.room {
                state.isPaused = true
                isTaken = false
            } else {
                state.bytes.append(contentsOf: bytes)
            }
        }
        return isTaken
    }

    func post(written: Int64) {
        change { $0.written = written }
    }

    /// Ends the transfer. The first end counts.
    func post(end: Result<HTTPMetrics, any Error>) {
        change { if $0.end == nil { $0.end = end } }
    }

    private func change(_ body: (inout State) -> Void) {
        let listener = state.withLock { state -> CheckedContinuation<Void, Never>? in
            body(&state)
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
