/// Finds out whether many connections to a host carry more than a shared one.
///
/// A shared connection already has its speed, and the server sends the most important answer first. Where packets get
/// lost, however, each loss slows down all transfers. The governor sees losses, but not the rate that other connections
/// would reach. So this type tries a few of them beside the shared one and compares. They carry two transfers each: see
/// ``Admission/Connection/few``.
struct SharingTrial: Sendable {
    private enum State {
        /// All transfers share a connection. The values are the time of the next trial, and the earlier time with
        /// repeated losses.
        case shared(next: Double, early: Double)
        /// Some transfers use connections of their own. The values are the start, the least rate for leaving the shared
        /// connection, the bytes delivered when the trial had reached its speed, and the end.
        case trying(begin: Double, least: Double, deliveredAtSpeed: Double?, end: Double)
        /// No transfer uses the shared connection any more.
        case unshared
    }

    private var state = State.shared(next: 0, early: 0)
    private var pause = 60.0
    /// The number of running transfers that belong to the trial.
    private var tried = 0

    private static let width = 8
    private static let worthwhile = 1.15
    /// The part of the earlier rate that justifies a change if packets get lost. The part is less than 1, because the
    /// shared connection will become slower.
    private static let worthwhileWithLosses = 0.85
    /// The number of bytes in eight handshakes with certificates. A trial needs a link that carries these bytes in a
    /// second.
    private static let handshakes = 48e3
    /// The least waiting work for a trial, in bytes. The amount is ten times the bytes that handshakes and first
    /// packets may waste.
    private static let leastWork = 10 * (handshakes + 8 * 14.6e3)

    var isUnshared: Bool { if case .unshared = state { true } else { false } }

    /// Whether the next transfer should join the trial, even beyond the window.
    var wantsAnother: Bool { if case .trying = state { tried < Self.width } else { false } }

    mutating func recordStart() { tried += 1 }
    mutating func recordEnd() { tried = max(0, tried - 1) }

    /// Records that the host refused requests. Returns whether all transfers should share a connection again.
    mutating func recordRefusal(at now: Double) -> Bool {
        guard isUnshared else { return false }
        state = .shared(next: now + pause, early: now + pause)
        return true
    }

    /// Evaluates the trial at a time. Returns whether to leave the shared connection now.
    ///
    /// - Parameters:
    ///   - isSettled: whether the shared connection is always in use and its rate is known.
    ///   - rate: the rate of the shared connection, in bytes per second.
    ///   - hasLosses: whether packets were lost without a queue.
    ///   - isLossy: whether packets are lost repeatedly. Losses may begin after a trial, so another trial follows soon.
    ///   - work: the number of bytes that wait.
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
