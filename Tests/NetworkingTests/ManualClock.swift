import Networking
import Synchronization

/// A clock that only the test moves.
final class ManualClock: NetworkClock {
    private struct State {
        var now: Duration = .zero
        var sleepers: [Int: (time: Duration, continuation: CheckedContinuation<Void, any Error>)] = [:]
        var nextSleeper = 0
        var watchers: [AsyncStream<Void>.Continuation] = []
    }

    private let state = Mutex(State())

    var now: Duration { state.withLock { $0.now } }

    /// The times of all sleepers.
    var alarms: [Duration] { state.withLock { $0.sleepers.values.map(\.time).sorted() } }

    func sleep(until time: Duration) async throws {
        let number = state.withLock { state in
            state.nextSleeper += 1
            return state.nextSleeper
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let isDue = state.withLock { state in
                    guard time > state.now, !Task.isCancelled else { return true }
                    state.sleepers[number] = (time, continuation)
                    for watcher in state.watchers { watcher.yield() }
                    return false
                }
                guard isDue else { return }
                if Task.isCancelled {
                    continuation.resume(throwing: CancellationError())
                } else {
                    continuation.resume()
                }
            }
        } onCancel: {
            state.withLock { $0.sleepers.removeValue(forKey: number) }?.continuation
                .resume(throwing: CancellationError())
        }
    }

    /// Yields when a sleeper comes, when time passes, and once at the start.
    func changes() -> AsyncStream<Void> {
        AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
            state.withLock { $0.watchers.append(continuation) }
            continuation.yield()
        }
    }

    /// Waits for a sleeper, then moves to its alarm. Returns the new time.
    @discardableResult
    func advanceToNextAlarm() async -> Duration {
        for await _ in changes() {
            if let first = alarms.first {
                advance(to: first)
                return first
            }
        }
        return now
    }

    /// Moves from alarm to alarm, without waiting for running work. There must always be a sleeper.
    func pass(to time: Duration) async {
        guard now < time else { return }
        for await _ in changes() {
            guard let first = alarms.first else { continue }
            advance(to: min(first, time))
            if now >= time { return }
        }
    }

    func advance(to time: Duration) {
        let due = state.withLock { state in
            state.now = max(state.now, time)
            for watcher in state.watchers { watcher.yield() }
            let due = state.sleepers.filter { $0.value.time <= state.now }
            for number in due.keys { state.sleepers[number] = nil }
            return due.values.map(\.continuation)
        }
        for continuation in due { continuation.resume() }
    }
}
