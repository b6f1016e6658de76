/// Finds out whether a host should be asked over many connections in place of one that all transfers share.
///
/// One connection is best: it is there, it is warm, and the server sends what matters most first. But where packets get lost,
/// each loss slows all of it down, and it carries a small part of what the link could. That packets get lost can be seen; how
/// much more others would carry cannot. So it is tried, with a few connections beside the shared one: do they bring more
/// than there was? Of those two transfers share each: see ``Admission/Connection/few``.
struct SharingTrial: Sendable {
    private enum State {
        /// All goes over the shared connection; when the next trial may be, or, if that should come to carry less than it
        /// did at the last one, when then.
        case shared(next: Double, ifLessThan: Double, then: Double)
        /// A few go over their own; the rate that it takes to leave, what was delivered when they had come to speed, and when
        /// that was.
        case trying(begin: Double, least: Double, deliveredAtSpeed: Double?, end: Double)
        /// All go over their own.
        case unshared
    }

    private var state = State.shared(next: 0, ifLessThan: 0, then: 0)
    private var pause = 60.0
    /// Unshared transfers that run in a trial.
    private var tried = 0

    private static let width = 8
    private static let worthwhile = 1.15
    /// Of what it takes to leave: less than four fifths of what there was before a trial.
    private static let muchLess = 0.7
    /// Where packets have got lost the shared connection will come to carry less than it did before the trial.
    private static let worthwhileWhenLossy = 0.85

    var isUnshared: Bool { if case .unshared = state { true } else { false } }

    /// Whether the next one that starts should be part of a trial, beside what the window allows.
    var wantsAnother: Bool { if case .trying = state { tried < Self.width } else { false } }

    mutating func noteTried() { tried += 1 }
    mutating func noteEndOfTried() { tried = max(0, tried - 1) }

    /// The host does not like so many connections. Returns whether all should share one again.
    mutating func noteRefusal(at now: Double) -> Bool {
        guard isUnshared else { return false }
        state = .shared(next: now + pause, ifLessThan: 0, then: now + pause)
        return true
    }

    /// Lets time pass. Returns whether all should go over connections of their own from now on.
    ///
    /// - Parameters:
    ///   - isSettled: whether it is known how much the shared connection carries, and it is used all the time.
    ///   - rate: how much that is, in bytes a second.
    ///   - hasLosses: whether a packet got lost that no queue has dropped.
    ///   - isLossy: whether that happens again and again: then it is tried again soon.
    ///   - work: how much is to come, in bytes, as far as it is known.
    mutating func advance(
        to now: Double, isSettled: Bool, rate: Double, delivered: Double, hasLosses: Bool,
        isLossy: Bool, work: Double, roundTrip: Double
    ) -> Bool {
        switch state {
        case .shared(let next, let few, let then):
            // Connections cost something, most where there is little: those of a trial should be a second's worth at most,
            // and a small part of all that is to come.
            let isTime = now >= next || ((isLossy || rate < few) && now >= then)
            guard isSettled, isTime, rate > Self.costOfTrial, work > Self.leastWork else { return false }
            // What comes is seen in lumps, a record of TLS at a time. Where nothing else speaks for leaving enough of them have
            // to come that they do not decide.
            let time = hasLosses ? 0.5 : max(0.5, Self.meaningful / rate)
            state = .trying(
                begin: now + 4 * roundTrip, least: (hasLosses ? Self.worthwhileWhenLossy : Self.worthwhile) * rate,
                deliveredAtSpeed: nil, end: now + 4 * roundTrip + max(4 * roundTrip, time))
        case .trying(let begin, let least, nil, let end):
            if now >= begin { state = .trying(begin: now, least: least, deliveredAtSpeed: delivered, end: end) }
        case .trying(let begin, let least, let deliveredAtSpeed?, let end):
            guard now >= end, now > begin else { return false }
            if (delivered - deliveredAtSpeed) / (now - begin) > least {
                state = .unshared
                return true
            }
            // Losses come later than the trial, when the connection has begun fast.
            state = .shared(next: now + pause, ifLessThan: Self.muchLess * least, then: now + 1)
            pause = min(2 * pause, 3_600)
        case .unshared: break
        }
        return false
    }

    /// Bytes that say how much is carried: 32 records (RFC 8446).
    private static let meaningful = 32 * 16_384.0

    /// Bytes that eight handshakes take, with some certificates.
    private static let costOfTrial = 48e3
    /// Ten times as much as a trial may cost: its handshakes, and what eight connections send at once when they begin.
    private static let leastWork = 10 * (costOfTrial + 8 * 14.6e3)
}
