/// A function that waits for a duration. The program passes a clock's sleep. Tests pass a function whose wait they end
/// themselves.
public typealias Wait = @Sendable (Duration) async throws -> Void

/// Performs an action after a delay, unless the alarm is set again or cancelled.
///
///     alarm.set(after: .seconds(1)) { [weak self] in self?.save() }
@MainActor
public final class Alarm {
    private var pending: Task<Void, Never>?
    private let wait: Wait

    /// Creates an alarm that is not set.
    public init(wait: @escaping Wait) {
        self.wait = wait
    }

    deinit {
        pending?.cancel()
    }

    /// Whether an action is pending.
    public var isSet: Bool { pending != nil }

    /// Performs an action after the delay, in place of the pending action.
    public func set(after delay: Duration, _ action: @escaping @MainActor () -> Void) {
        pending?.cancel()
        pending = Task { [weak self, wait] in
            if delay > .zero, (try? await wait(delay)) == nil { return }
            guard !Task.isCancelled, let self else { return }
            pending = nil
            action()
        }
    }

    /// Cancels the pending action.
    public func cancel() {
        pending?.cancel()
        pending = nil
    }
}

/// Performs an action at most once per interval, however often it is signalled.
///
/// The first signal performs the action at once. Signals during the interval cause one action at its end. Without
/// signals the throttle sets no timer.
@MainActor
public final class Throttle {
    /// The action to perform for signals.
    public var action: () -> Void = {}
    private let alarm: Alarm
    private var isSignalled = false

    /// The shortest time between two actions.
    public static let interval = Duration.milliseconds(250)

    /// Creates a throttle whose first signal performs the action at once.
    public init(wait: @escaping Wait) {
        alarm = Alarm(wait: wait)
    }

    /// Whether the interval after an action is still running.
    var isPausing: Bool { alarm.isSet }

    /// Performs the action now, or when the interval ends.
    public func signal() {
        guard !isPausing else { return isSignalled = true }
        action()
        alarm.set(after: Self.interval) { [weak self] in self?.endPause() }
    }

    private func endPause() {
        guard isSignalled else { return }
        isSignalled = false
        signal()
    }
}

/// Follows a value. Adopts a new value after it has not changed for an interval.
///
/// The first value and nil are adopted at once.
@MainActor
public final class Debounce<Value: Equatable> {
    /// The action to perform after the interval, when a new value was adopted.
    public var onChange: () -> Void = {}
    /// The value that was adopted last.
    public private(set) var value: Value?
    private var latest: Value?
    private let interval: Duration
    private let alarm: Alarm

    /// Creates a debounce without a value.
    public init(interval: Duration, wait: @escaping Wait) {
        self.interval = interval
        alarm = Alarm(wait: wait)
    }

    /// Sets the latest value, which is adopted at once or after the interval.
    public func set(_ new: Value?) {
        guard new != latest else { return }
        latest = new
        alarm.cancel()
        guard value != nil, new != nil else { return value = new }
        guard new != value else { return }
        alarm.set(after: interval) { [weak self] in self?.settle() }
    }

    private func settle() {
        value = latest
        onChange()
    }
}

/// Tells whether an action is due, at most once per interval. The type has no timer.
public struct RateLimit: Sendable {
    private let interval: Duration
    private var last: ContinuousClock.Instant?

    /// Creates a limit whose first answer is true.
    public init(interval: Duration) {
        self.interval = interval
    }

    /// Returns true the first time, and then at most once per interval.
    public mutating func isDue(at now: ContinuousClock.Instant = .now) -> Bool {
        if let last, now - last < interval { return false }
        last = now
        return true
    }
}
