/// What packets, silences and rates say of the way to a host.
extension HostPath {
    /// Seconds without a byte of an answer that has begun, after which a packet was lost and not missed: one that is missed
    /// comes a round trip later, with the queues on the way.
    ///
    /// - Parameter others: how many come meanwhile.
    func silence(among others: Int) -> Double {
        1.5 * max(roundTripTime, packets.trip ?? 0) + (isSeenLate ? Double(others) * recordTime : 0)
    }

    /// Whether the link has been used for so long that it will not show more by itself. Where losses keep it from being used
    /// that is sooner to be seen.
    var isSettled: Bool { isHeldUpByLosses || (!isInSlowStart && growth.roundsWithoutMore >= 12) }

    /// Whether losses keep it from being used: packets get lost, and not for want of room in a queue, for there is none.
    var isHeldUpByLosses: Bool { packets.isHeldUp(least: roundTripTime, isShared: isShared) }

    /// The same, again and again.
    var isLossy: Bool { packets.isHeldUpAgainAndAgain(least: roundTripTime, isShared: isShared) }

    /// Whether losses would hold up one connection that had it to itself.
    var wouldHoldUpOne: Bool { packets.areAnyLostOnLine }

    /// Whether packets get lost again and again, whatever for.
    var losesPackets: Bool { packets.areLostAgainAndAgain }

    /// Bytes a second of late. Where packets are lost that is much less than the most that was seen: what had to wait for one
    /// packet comes with it all at once.
    func recentRate(at now: Double) -> Double? { log.rate(delivered, at: now, over: 2 * someTime) }

    /// The same, when that has gone on for long enough that single thumbnails do not decide.
    func steadyRate(at now: Double) -> Double? { log.rate(delivered, at: now, over: 2 * fallSpan) }

    /// The same, unless losses hold it up: that is not going to change, and is known sooner.
    func presentRate(at now: Double) -> Double? {
        guard isHeldUpByLosses else { return steadyRate(at: now) }
        return log.rate(delivered, at: now, over: max(4 * roundTripTime, fallSpan / 2))
    }
}
