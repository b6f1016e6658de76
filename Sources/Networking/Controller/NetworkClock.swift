import Concurrency

/// The clock that the controller uses for waits. Tests use a clock that they set themselves.
public protocol NetworkClock: Sendable {
    /// The time since a fixed moment in the past.
    var now: Duration { get }
    /// Waits until a time. Throws when the task is cancelled.
    func sleep(until time: Duration) async throws
}

/// The machine's clock. The clock also runs while the machine sleeps, so retries are due when the machine wakes up.
public struct MachineClock: NetworkClock {
    private let clock = BootClock()

    /// Creates a clock that starts now.
    public init() {}

    /// The time since the clock was created.
    public var now: Duration { clock.now }

    /// Waits until a time. Throws when the task is cancelled.
    public func sleep(until time: Duration) async throws {
        try await clock.sleep(until: time)
    }
}

/// Calls its owner once, at a time that the owner can change.
struct ClockAlarm {
    /// The time of the call; nil if the alarm is not set.
    private(set) var time: Duration?
    private var task: Task<Void, Never>?

    /// Sets the time of the alarm, or cancels it if the time is nil. Does nothing if that time is already set.
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

    /// Clears the alarm after its call. Returns false if the alarm was cancelled or set to another time meanwhile.
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
