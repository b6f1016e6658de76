/// Since when it can be judged whether a link has come to carry much less than it did.
struct FallSigns: Sendable {
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

    /// How far to look back; nil as long as there has not been enough to do for so long.
    ///
    /// - Parameter usual: how far that is as a rule. Where the link has just been found to be worse, half of it is enough to
    ///   see how much worse.
    func span(_ usual: Double, at now: Double) -> Double? {
        let span = now - time < 2 * usual ? usual / 2 : usual
        return busy.flatMap { now - $0.since >= span ? span : nil }
    }

    /// Notes that it has been found to carry less.
    mutating func note(at now: Double) { time = now }
}
