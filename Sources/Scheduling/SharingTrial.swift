/// Finds out whether many connections to a host carry more than a shared one.
///
/// A shared connection is warm, and the server sends the most important answer first. Where packets get lost, however,
/// each loss slows down everything. The governor sees losses, but not what other connections would carry. So it tries a
/// few of them beside the shared one and compares. They carry two transfers each: see ``Admission/Connection/few``.
struct SharingTrial: Sendable {
    private enum State {
        /// All transfers share a connection; when another trial may begin, and when with repeated losses.
        case shared(next: Double, early: Double)
        /// Some transfers run over connections of their own; the least rate to leave the shared one, what was delivered
        /// when they had reached their speed, and the end.
        case trying(begin: Double, least: Double, deliveredAtSpeed: Double?, end: Double)
        /// All transfers run over connections of their own.
        case unshared
    }

    private var state = State.shared(next: 0, early: 0)
    private var pause = 60.0
    /// Transfers of the trial that run.
    private var tried = 0

    private static let width = 8
    private static let worthwhile = 1.15
    /// With losses, the shared connection will carry less than it did before the trial.
    private static let worthwhileWithLosses = 0.85
    /// Bytes of eight handshakes with certificates. A trial needs a link that carries them in a second.
    private static let handshakes = 48e3
    /// The least waiting work for a trial, in bytes: ten times what its handshakes and first flights may waste.
    private static let leastWork = 10 * (handshakes + 8 * 14.6e3)

    var isUnshared: Bool { if case .unshared = state { true } else { false } }

    /// Whether the next transfer should join the trial, beyond the window.
    var wantsAnother: Bool { if case .trying = state { tried < Self.width } else { false } }

    mutating func recordStart() { tried += 1 }
    mutating func recordEnd() { tried = max(0, tried - 1) }

    /// Records that the host refused connections. Returns whether all transfers should share one again.
    mutating func recordRefusal(at now: Double) -> Bool {
        guard isUnshared else { return false }
        state = .shared(next: now + pause, early: now + pause)
        return true
    }

    /// Lets time pass. Returns whether to leave the shared connection now.
    ///
    /// - Parameters:
    ///   - isSettled: whether the shared connection is always in use and its rate is known.
    ///   - rate: that rate, in bytes a second.
    ///   - hasLosses: whether packets were lost outside a queue.
    ///   - isLossy: whether that happens repeatedly. Losses may begin after a trial, so another one follows soon.
    ///   - work: the bytes that wait.
    mutating func advance(
        to now: Double, isSettled: Bool, rate: Double, delivered: Double, hasLosses: Bool, isLossy: Bool, work: Double,
        roundTrip: Double
    ) -> Bool {
        switch state {
        case .shared(let next, let early):
            guard isSettled, now >= (isLossy ? early : next), rate > Self.handshakes, work > Self.leastWork else {
                return false
            }
            let begin = now + 4 * roundTrip
            state = .trying(
                begin: begin, least: (hasLosses ? Self.worthwhileWithLosses : Self.worthwhile) * rate,
                deliveredAtSpeed: nil, end: begin + max(4 * roundTrip, 0.5))
        case .trying(let begin, let least, nil, let end):
            if now >= begin { state = .trying(begin: now, least: least, deliveredAtSpeed: delivered, end: end) }
        case .trying(let begin, let least, let deliveredAtSpeed?, let end):
            guard now >= end, now > begin else { return false }
            if (delivered - deliveredAtSpeed) / (now - begin) > least {
                state = .unshared
                return true
            }
            state = .shared(next: now + pause, early: now + 1)
            pause = min(2 * pause, 3_600)
        case .unshared: break
        }
        return false
    }
}
