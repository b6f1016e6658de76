import Synchronization

/// Waits that pass when the test says so.
final class ManualWait: Sendable {
    private struct State {
        var waiting: [Int: (duration: Duration, continuation: CheckedContinuation<Void, any Error>)] = [:]
        var nextNumber = 0
    }

    private let state = Mutex(State())
    private let began = AsyncStream<Duration>.makeStream()
    private let ended = AsyncStream<Void>.makeStream()

    /// What a program is given to wait with.
    func wait(_ duration: Duration) async throws {
        let number = state.withLock { state in
            state.nextNumber += 1
            return state.nextNumber
        }
        defer { ended.continuation.yield() }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let isOver = state.withLock { state in
                    if Task.isCancelled { return true }
                    state.waiting[number] = (duration, continuation)
                    return false
                }
                if isOver {
                    continuation.resume(throwing: CancellationError())
                } else {
                    began.continuation.yield(duration)
                }
            }
        } onCancel: {
            state.withLock { $0.waiting.removeValue(forKey: number) }?.continuation
                .resume(throwing: CancellationError())
        }
    }

    /// How many wait.
    var count: Int { state.withLock { $0.waiting.count } }

    /// For how long they do.
    var durations: [Duration] { state.withLock { $0.waiting.values.map(\.duration) } }

    /// Returns when somebody has begun to wait: for how long.
    func nextBegin() async -> Duration? {
        for await duration in began.stream { return duration }
        return nil
    }

    /// Returns when somebody waits no more.
    func nextEnd() async {
        for await _ in ended.stream { return }
    }

    /// Lets the time pass that everybody waits for.
    func pass() {
        let waiting = state.withLock { state in
            defer { state.waiting = [:] }
            return state.waiting.values.map(\.continuation)
        }
        for continuation in waiting { continuation.resume() }
    }
}
