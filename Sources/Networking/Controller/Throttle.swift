/// Says a few times a second that it is time again, however often it is asked.
struct Throttle {
    private var last: ContinuousClock.Instant?

    private static let interval: Duration = .milliseconds(250)

    /// Whether it is the first time, or long enough since it last was time.
    mutating func isDue(at now: ContinuousClock.Instant = .now) -> Bool {
        if let last, now - last < Self.interval { return false }
        last = now
        return true
    }
}
