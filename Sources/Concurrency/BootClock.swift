import Synchronization

/// A clock to sleep by, which goes on while the machine sleeps.
///
///     let clock = BootClock()
///     try await clock.sleep(until: clock.now + .seconds(60))
///
/// `Task.sleep` would do, but since Swift 6.3 it goes past whoever runs the program's tasks, to Dispatch's own threads, and
/// Dispatch then looks once a second for ever how busy those are. Nobody who is to be idle may use it.
public final class BootClock: Sendable {
    private let timer = BootTimer()
    private let start = BootTimer.now

    /// A clock that starts now.
    public init() {}

    /// Time since the clock was made.
    public var now: Duration { .nanoseconds(BootTimer.now - start) }

    /// Returns at that time, or throws a `CancellationError` as soon as the task is cancelled.
    public func sleep(until time: Duration) async throws {
        let sleeper = Sleeper(timer)
        let nanoseconds = min((time - now) / .nanoseconds(1), 1e18)
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { sleeper.begin($0, Int64(nanoseconds)) }
        } onCancel: {
            sleeper.cancel()
        }
    }

    /// One sleep, which ends once: when it is time, or before.
    private final class Sleeper: Sendable {
        private enum State {
            case awake
            case asleep(number: Int, CheckedContinuation<Void, any Error>)
            case over
        }

        private let timer: BootTimer
        private let state = Mutex(State.awake)

        init(_ timer: BootTimer) { self.timer = timer }

        func begin(_ continuation: CheckedContinuation<Void, any Error>, _ nanoseconds: Int64) {
            let isOver = state.withLock { state in
                if case .over = state { return true }
                // Rung on a queue of the timer's, so never before the lock is let go.
                let number = timer.run(afterNanoseconds: nanoseconds) { self.end()?.resume() }
                state = .asleep(number: number, continuation)
                return false
            }
            if isOver { continuation.resume(throwing: CancellationError()) }
        }

        func cancel() {
            end()?.resume(throwing: CancellationError())
        }

        private func end() -> CheckedContinuation<Void, any Error>? {
            let old = state.withLock { state in
                defer { state = .over }
                return state
            }
            guard case .asleep(let number, let continuation) = old else { return nil }
            timer.callOff(number)
            return continuation
        }
    }
}
