import Synchronization

/// One question to the keyring, answered once: in time, or with the word that it was not.
final class KeyringQuestion<Answer: Sendable>: Sendable {
    private struct State {
        var continuation: CheckedContinuation<Result<Answer, SecretError>, Never>?
        /// How to end it while it is being asked.
        var cancel: (@Sendable () -> Void)?
    }

    private let state: Mutex<State>

    init(_ continuation: CheckedContinuation<Result<Answer, SecretError>, Never>) {
        state = Mutex(State(continuation: continuation))
    }

    /// Whether anybody waits for the answer.
    var isOpen: Bool { state.withLock { $0.continuation != nil } }

    /// It is being asked from now on.
    func begin(cancel: @escaping @Sendable () -> Void) {
        state.withLock { $0.cancel = cancel }
    }

    /// Gives the answer. Only the first one is heard.
    func answer(_ result: Result<Answer, SecretError>) {
        let continuation = state.withLock { state in
            defer { state = State() }
            return state.continuation
        }
        continuation?.resume(returning: result)
    }

    /// It has taken too long.
    func giveUp() {
        let cancel = state.withLock { $0.cancel }
        answer(.failure(.silent))
        cancel?()
    }
}
