import HTTP

/// A network made worse on purpose, to see what that is like: each transfer begins later, and every so-manieth fails.
///
///     var disturbance = Disturbance(delay: .milliseconds(500), failingEvery: 3)
///     let step = disturbance.next()
///     try await clock.sleep(until: clock.now + step.delay)
///     if let error = step.error { throw error }
///
/// It counts and has no clock: whoever sends requests asks it before each.
public struct Disturbance: Hashable, Sendable {
    /// What is to happen to one request.
    public struct Step: Equatable, Sendable {
        /// How much later it begins.
        public let delay: Duration
        /// What it fails with, in place of being sent.
        public let error: RequestError?
    }

    private let delay: Duration
    private let period: Int
    private var count = 0

    /// - Parameters:
    ///   - delay: how much later each transfer begins.
    ///   - period: every so-manieth fails; 0 for none.
    public init(delay: Duration = .zero, failingEvery period: Int = 0) {
        self.delay = max(.zero, delay)
        self.period = max(0, period)
    }

    /// Counts one more request.
    public mutating func next() -> Step {
        guard period > 0 else { return Step(delay: delay, error: nil) }
        count = (count + 1) % period
        return Step(delay: delay, error: count == 0 ? .transfer(.other("made to fail for a test")) : nil)
    }
}
