import Concurrency

/// The clock for waits. Tests move their own.
public protocol NetworkClock: Sendable {
    /// Time since some moment in the past.
    var now: Duration { get }
    /// Returns at a time, or throws when the task is cancelled.
    func sleep(until time: Duration) async throws
}

/// The machine's clock. It runs during sleep, so retries are due after a night with the lid closed.
public struct MachineClock: NetworkClock {
    private let clock = BootClock()

    /// Makes a clock that starts now.
    public init() {}

    /// Time since the clock was made.
    public var now: Duration { clock.now }

    /// Returns at a time, or throws when the task is cancelled.
    public func sleep(until time: Duration) async throws {
        try await clock.sleep(until: time)
    }
}

/// Wakes its owner once, at a time that can be changed.
struct ClockAlarm {
    /// When it rings; nil if it is not set. The controller compares it with the next look.
    private(set) var time: Duration?
    private var task: Task<Void, Never>?

    /// Sets the time, or cancels the alarm. Does nothing if it is set to that time already.
    mutating func set(
        to time: Duration?, _ clock: any NetworkClock, onRing: @escaping @Sendable (Duration) async -> Void
    ) {
        guard time != self.time else { return }
        cancel()
        guard let time else { return }
        self.time = time
        task = Task {
            guard (try? await clock.sleep(until: time)) != nil else { return }
            await onRing(time)
        }
    }

    /// Ends the alarm that rang. Returns false if it was cancelled or set to another time meanwhile.
    mutating func end(_ time: Duration) -> Bool {
        guard self.time == time else { return false }
        (self.time, task) = (nil, nil)
        return true
    }

    mutating func cancel() {
        task?.cancel()
        (time, task) = (nil, nil)
    }
}
