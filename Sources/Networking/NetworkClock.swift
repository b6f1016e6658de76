/// The time that waits are measured by. A test has one that it moves itself.
public protocol NetworkClock: Sendable {
    /// Time since some moment in the past.
    var now: Duration { get }
    /// Returns at that time, or throws when the task is cancelled.
    func sleep(until time: Duration) async throws
}

/// The machine's own clock, which goes on while the machine sleeps: after a night with the lid closed, what was put off
/// is due.
///
/// Its sleepers are woken by whoever runs the program's tasks: in Vitrine by ``Streams/GlobalTasks``, whose timer is on the
/// same clock.
public struct MachineClock: NetworkClock {
    private let start = ContinuousClock.now

    /// A clock that starts now.
    public init() {}

    /// Time since the clock was made.
    public var now: Duration { ContinuousClock.now - start }

    /// Returns at that time, or throws when the task is cancelled.
    public func sleep(until time: Duration) async throws {
        try await ContinuousClock().sleep(until: start + time)
    }
}
