import HTTP

/// Simulates a bad network: delays every transfer and makes some transfers fail.
///
///     var disturbance = Disturbance(delay: .milliseconds(500), failingEvery: 3)
///     let step = disturbance.next()
///     try await clock.sleep(until: clock.now + step.delay)
///     if let error = step.error { throw error }
///
/// This type only counts requests; the sender waits and throws.
public struct Disturbance: Hashable, Sendable {
    /// The disturbance of one request.
    public struct Step: Equatable, Sendable {
        /// The time to wait before the sender sends the request.
        public let delay: Duration
        /// The error to throw instead of sending the request; nil for no error.
        public let error: RequestError?
    }

    private let delay: Duration
    private let period: Int
    private var count = 0

    /// - Parameters:
    ///   - delay: the delay of each transfer.
    ///   - period: with 3, for example, every third transfer fails; 0 for none.
    public init(delay: Duration = .zero, failingEvery period: Int = 0) {
        self.delay = max(.zero, delay)
        self.period = max(0, period)
    }

    /// Counts a request and returns its disturbance.
    public mutating func next() -> Step {
        guard period > 0 else { return Step(delay: delay, error: nil) }
        count = (count + 1) % period
        return Step(delay: delay, error: count == 0 ? .transfer(.other("simulated failure")) : nil)
    }
}
