/// Detects that a link carries much less than before.
struct CollapseDetector: Sendable {
    /// The time when the last collapse was found. Earlier measurements no longer count.
    private(set) var time = -Double.infinity
    /// The time since which bytes arrive and there is enough to transfer. The number `delivered` counts the bytes
    /// before that time.
    private var busy: (since: Double, delivered: Double)?

    /// The number of bytes that show that the link works, the size of three packets. If fewer bytes arrive, a packet
    /// was lost or the link is asleep, and the rate of the link is unknown.
    private static let sign = 4_344.0
    /// The lowest rate that a working link can have, in bytes per second.
    private static let least = 2_000.0

    /// Records whether there is enough to transfer. Time spent connecting and pauses do not count as a collapse.
    mutating func recordLoad(_ isSaturated: Bool, delivered: Double, at now: Double) {
        let isBegun = busy.map { delivered > $0.delivered } ?? false
        busy = !isSaturated ? nil : isBegun ? busy : (now, delivered)
    }

    mutating func recordCollapse(at now: Double) { time = now }

    /// Returns the present rate, and whether to interrupt running transfers. Returns nil without a collapse.
    ///
    /// - Parameters:
    ///   - isLossy: whether packets get lost. Bytes behind a lost packet arrive all at once, so the bandwidth seems
    ///     larger than it is. So the rate must fall further.
    ///   - isLossy: whether packets get lost. Bytes behind a lost packet arrive all at once, and the bandwidth seems
    ///     larger than it is. So the rate must fall further.
    ///   - span: the number of seconds to look back.
    func judge(
        _ log: DeliveryLog, _ delivered: Double, _ known: Double, isLossy: Bool, over span: Double, at now: Double
    ) -> (rate: Double, isSevere: Bool)? {
        guard let busy, now - busy.since >= span, let rate = log.rate(delivered, at: now, over: span),
            rate < (isLossy ? known / 8 : known / 2), rate * span > Self.sign
        else { return nil }
        guard rate < known / 8 else { return (max(rate, Self.least), false) }
        // Much of that may have arrived before the collapse.
        let recent = log.rate(delivered, at: now, over: span / 4) ?? rate
        return (max(min(rate, recent), Self.least), true)
    }
}
