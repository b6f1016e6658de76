/// The least round trip of late: how far away a host is, without the queues on the way.
///
/// A route may become longer, so the least is looked for anew from time to time. But where the link has been busy all
/// along, all that was seen is the length of the queue: so it rises by a quarter at most.
struct RoundTripFilter {
    /// The least, in seconds.
    private(set) var least: Double?
    /// The least since the search began, and when that was.
    private var candidate = Double.infinity
    private var searchTime = 0.0

    private static let window = 30.0
    private static let greatestRise = 1.25

    mutating func add(_ seconds: Double, at now: Double) {
        guard let least, seconds > least else {
            self.least = seconds
            (searchTime, candidate) = (now, .infinity)
            return
        }
        candidate = min(candidate, seconds)
        guard now - searchTime > Self.window else { return }
        self.least = min(candidate, least * Self.greatestRise)
        (searchTime, candidate) = (now, .infinity)
    }
}
