import Concurrency

/// The time that waits are measured by. A test has one that it moves itself.
public protocol NetworkClock: Sendable {
    /// Time since some moment in the past.
    var now: Duration { get }
    /// Returns at that time, or throws when the task is cancelled.
    func sleep(until time: Duration) async throws
}

/// The machine's own clock, which goes on while the machine sleeps: after a night with the lid closed, what was put off
/// is due.
public struct MachineClock: NetworkClock {
    private let clock = BootClock()

    /// A clock that starts now.
    public init() {}

    /// Time since the clock was made.
    public var now: Duration { clock.now }

    /// Returns at that time, or throws when the task is cancelled.
    public func sleep(until time: Duration) async throws {
        try await clock.sleep(until: time)
    }
}
