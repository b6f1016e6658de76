import Dispatch
import Synchronization

/// One question to the keyring, answered once: in time, or with the word that it was not.
final class KeyringQuestion<Answer: Sendable>: Sendable {
    private struct State {
        var continuation: CheckedContinuation<Result<Answer, SecretError>, Never>?
        /// How to end it while it is being asked.
        var cancel: (@Sendable () -> Void)?
        /// What rings when it has taken too long.
        var alarm: (any DispatchSourceTimer)?

        mutating func end() {
            alarm?.cancel()
            self = State()
        }
    }

    private let state: Mutex<State>

    /// - Parameter alarm: when it rings it has taken too long. It is set here, and cancelled once there is an answer: it would
    ///   wake an idle program for nothing.
    init(
        _ continuation: CheckedContinuation<Result<Answer, SecretError>, Never>, alarm: sending any DispatchSourceTimer
    ) {
        state = Mutex(State(continuation: continuation, alarm: alarm))
        state.withLock { state in
            state.alarm?.setEventHandler { [weak self] in self?.giveUp() }
            state.alarm?.resume()
        }
    }

    /// Whether anybody waits for the answer.
    var isOpen: Bool { state.withLock { $0.continuation != nil } }

    /// It is being asked from now on. Returns false if nobody waits for the answer any more: then it is not to be asked, for
    /// nobody would end it.
    func begin(cancel: @escaping @Sendable () -> Void) -> Bool {
        state.withLock { state in
            guard state.continuation != nil else { return false }
            state.cancel = cancel
            return true
        }
    }

    /// Gives the answer. Only the first one is heard.
    func answer(_ result: Result<Answer, SecretError>) {
        let continuation = state.withLock { state in
            defer { state.end() }
            return state.continuation
        }
        continuation?.resume(returning: result)
    }

    /// It has taken too long.
    func giveUp() {
        let (continuation, cancel) = state.withLock { state in
            defer { state.end() }
            return (state.continuation, state.cancel)
        }
        continuation?.resume(returning: .failure(.silent))
        cancel?()
    }
}
