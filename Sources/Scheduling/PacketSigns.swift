/// What packets tell of a way: which of them get lost, and whether they stand in a queue.
///
/// A queue that is full drops packets too, and then the link is used as well as it can be. What the line itself loses keeps
/// connections from using it. So what is lost while there is a queue does not count as the line's.
struct PacketSigns: Sendable {
    private var losses = LossRecord()
    private var lossesOfLine = LossRecord()
    /// What a packet and its acknowledgement took of late, smoothed, queues and all; and for how many rounds that was no more
    /// than without one.
    private(set) var trip: Double?
    private var roundsSinceQueue = 0

    /// Notes of a connection what came over it since it was last looked at.
    ///
    /// - Parameters:
    ///   - trip: seconds from a packet to its acknowledgement; nil where that is not known, and whatever is lost may stand in
    ///     a queue.
    ///   - least: what they are without a queue.
    ///   - isShared: whether all goes over this one.
    mutating func note(areOrdered: Bool, trip: Double?, least: Double, isShared: Bool) {
        self.trip = trip
        if isLate(least: least) { roundsSinceQueue = 0 }
        losses.note(isKept: areOrdered)
        lossesOfLine.note(isKept: areOrdered || isQueueing(least: least, isShared: isShared))
    }

    /// A round trip is over.
    mutating func endRound() {
        losses.endRound()
        lossesOfLine.endRound()
        if trip != nil { roundsSinceQueue += 1 }
    }

    /// Whether packets got lost of late, whatever for; and whether that happens again and again.
    var areAnyLost: Bool { losses.isAny }
    var areLostAgainAndAgain: Bool { losses.areOfLine }

    /// Whether the line lost some of late, whether it is full now or not.
    var areAnyLostOnLine: Bool { lossesOfLine.isAny }

    /// Whether the line loses packets, and that is why it is not full.
    func isHeldUp(least: Double, isShared: Bool) -> Bool {
        lossesOfLine.isAny && !isQueueing(least: least, isShared: isShared)
    }

    /// The same, again and again.
    func isHeldUpAgainAndAgain(least: Double, isShared: Bool) -> Bool {
        lossesOfLine.areOfLine && !isQueueing(least: least, isShared: isShared)
    }

    /// Whether packets took longer than they could, as far as is known.
    func isLate(least: Double) -> Bool { trip.map { $0 > Lateness.bound(least: least) } ?? false }

    /// Whether packets stand in a queue on the way: then the link is full, whatever gets lost. Of a single connection so few
    /// are timed that a queue is seen late, and what it drops is known before: there it counts for a while.
    private func isQueueing(least: Double, isShared: Bool) -> Bool {
        isShared ? roundsSinceQueue < 4 : (trip ?? .infinity) > 1.5 * least + 0.01
    }
}

/// In which round trips packets got lost, which shows in the order of those that came.
///
/// A link that is full loses packets too, when whoever sends tries to send more: once, and then nothing for many round trips.
/// So whether it is the line that loses them shows in how often it begins anew.
struct LossRecord: Sendable {
    /// A bit for each of the last rounds of which anything is known, the latest lowest: whether there was a loss.
    private var rounds: UInt32 = 0
    /// Whether there was one in this round; nil as long as nothing is known of it.
    private var hasLoss: Bool?

    /// Notes of something that came whether its packets came in their order.
    mutating func note(isKept: Bool) {
        hasLoss = (hasLoss ?? false) || !isKept
    }

    mutating func endRound() {
        guard let hasLoss else { return }
        rounds = rounds << 1 | (hasLoss ? 1 : 0)
        self.hasLoss = nil
    }

    /// Whether some were lost of late.
    var isAny: Bool { rounds != 0 }

    /// Whether they get lost again and again.
    var areOfLine: Bool { beginnings >= 3 }

    /// Bits that are set where the one before, which is higher, is not.
    private var beginnings: Int { (rounds & ~(rounds >> 1)).nonzeroBitCount }
}
