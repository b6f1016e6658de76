/// Detects that a link carries much less than before.
struct CollapseDetector: Sendable {
    /// When the last collapse was found. Earlier measurements no longer count.
    private(set) var time = -Double.infinity
    /// Since when there is enough to transfer and bytes arrive, and what had been delivered before.
    private var busy: (since: Double, delivered: Double)?

    /// Bytes that show that the link is alive: three packets. If nothing arrives, a packet was lost or the link is
    /// asleep, and its rate is unknown.
    private static let sign = 4_344.0
    /// The least rate of a link over which something arrives, in bytes a second.
    private static let least = 2_000.0

    /// Records whether there is enough to transfer. Connecting and pauses are no collapse.
    mutating func recordLoad(_ isSaturated: Bool, delivered: Double, at now: Double) {
        let isBegun = busy.map { delivered > $0.delivered } ?? false
        busy = !isSaturated ? nil : isBegun ? busy : (now, delivered)
    }

    mutating func recordCollapse(at now: Double) { time = now }

    /// Returns the present rate and whether to interrupt running transfers; nil without a collapse.
    ///
    /// - Parameters:
    ///   - known: the measured bandwidth.
    ///   - isLossy: whether packets get lost. Bytes behind a lost packet arrive all at once, and the bandwidth seems
    ///     larger than it is. So the rate must fall further.
    ///   - span: the seconds to look back.
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
