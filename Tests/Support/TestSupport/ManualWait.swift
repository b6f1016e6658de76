import Synchronization

/// Waits that end when the test says so.
public final class ManualWait: Sendable {
    private struct State {
        var waiting: [Int: (duration: Duration, continuation: CheckedContinuation<Void, any Error>)] = [:]
        var nextNumber = 0
    }

    private let state = Mutex(State())
    private let began = AsyncStream<Duration>.makeStream()
    private let ended = AsyncStream<Void>.makeStream()

    /// Makes a waiter without waits.
    public init() {}

    /// Waits until ``pass()``. The tested code gets this in place of a clock's sleep.
    public func wait(_ duration: Duration) async throws {
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

    /// The number of waits under way.
    public var count: Int { state.withLock { $0.waiting.count } }

    /// The durations of the waits under way.
    public var durations: [Duration] { state.withLock { $0.waiting.values.map(\.duration) } }

    /// Returns the duration of the next wait that begins.
    public func nextBegin() async -> Duration? {
        for await duration in began.stream { return duration }
        return nil
    }

    /// Returns when the next wait has ended.
    public func nextEnd() async {
        for await _ in ended.stream { return }
    }

    /// Ends all waits under way.
    public func pass() {
        let waiting = state.withLock { state in
            defer { state.waiting = [:] }
            return state.waiting.values.map(\.continuation)
        }
        for continuation in waiting { continuation.resume() }
    }
}
