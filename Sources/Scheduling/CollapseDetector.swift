/// Whether a link has come to carry much less than it did, and since when that can be judged.
struct CollapseDetector: Sendable {
    /// When it was last found to. What was measured from before then on is no measure of what it carries since.
    private(set) var time = -Double.infinity
    /// Since when there has been enough to do and something came, and what had been delivered before that.
    private var busy: (since: Double, delivered: Double)?

    /// Notes whether there is enough to do. What connecting takes, and a pause, look like a fall and are none.
    mutating func noteLoad(_ isSaturated: Bool, delivered: Double, at now: Double) {
        // As long as nothing has come connections are being made.
        let isBegun = busy.map { delivered > $0.delivered } ?? false
        busy = !isSaturated ? nil : isBegun ? busy : (now, delivered)
    }

    /// So many bytes in the time that is looked back upon are a sign of life: three packets.
    private static let sign = 4_344.0
    /// Something came over it, so it carries so many bytes a second at least.
    private static let least = 2_000.0

    /// What a link carries that has become much worse, in bytes a second, and whether it is so much worse that what is under way
    /// was asked for in another world; nil as long as it has not.
    ///
    /// - Parameters:
    ///   - known: what it was known to carry.
    ///   - isLossy: whether it loses packets: what waited for one comes at once, and looks like a link twice as wide or more.
    ///     There it has to have become as much worse as that again.
    ///   - usual: how far to look back as a rule.
    func judge(
        _ log: DeliveryLog, _ delivered: Double, _ known: Double, isLossy: Bool, over usual: Double, at now: Double
    ) -> (rate: Double, isAnotherWorld: Bool)? {
        // Where nothing comes at all a packet was lost, or the link is asleep: that says nothing of what it carries.
        guard let span = span(usual, at: now), let rate = log.rate(delivered, at: now, over: span),
            rate < (isLossy ? known / 8 : known / 2), rate * span > Self.sign
        else { return nil }
        guard rate < known / 8 else { return (max(rate, Self.least), false) }
        // Much of that may have come before: what has come of late is what it carries.
        let recent = log.rate(delivered, at: now, over: span / 4) ?? rate
        return (max(min(rate, recent), Self.least), true)
    }

    /// How far to look back; nil as long as there has not been enough to do for so long.
    ///
    /// - Parameter usual: how far that is as a rule. Where the link has just been found to be worse, half of it is enough to
    ///   see how much worse.
    private func span(_ usual: Double, at now: Double) -> Double? {
        let span = now - time < 2 * usual ? usual / 2 : usual
        return busy.flatMap { now - $0.since >= span ? span : nil }
    }

    /// Notes that it has been found to carry less.
    mutating func note(at now: Double) { time = now }
}
