import Glibc
import Synchronization

/// A way to stop a decoder, from any thread and at any time: before it was started, while it runs, after its end.
package final class DecodeCancellation: Sendable {
    private enum State {
        case idle
        case running(pid_t)
        case cancelled
    }

    private let state = Mutex(State.idle)

    package init() {}

    /// Stops what runs, or what would run. It can be repeated.
    func cancel() {
        state.withLock { state in
            // Under the lock: as long as the state says so the process has not been reaped, and its number is its own.
            if case .running(let process) = state { kill(process, SIGKILL) }
            state = .cancelled
        }
    }

    /// Whether it was cancelled.
    var isCancelled: Bool {
        state.withLock { if case .cancelled = $0 { true } else { false } }
    }

    /// Notes that a decoder runs; false if it should not.
    func begin(_ process: pid_t) -> Bool {
        state.withLock { state in
            if case .cancelled = state { return false }
            state = .running(process)
            return true
        }
    }

    /// Notes that a decoder has ended and is about to be reaped. Returns whether it was cancelled.
    func end() -> Bool {
        state.withLock { state in
            if case .cancelled = state { return true }
            state = .idle
            return false
        }
    }
}
