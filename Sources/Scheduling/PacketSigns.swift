/// The losses and queues of a path, as its packets show them.
///
/// A full queue drops packets too, and then the link is used as well as it can be. Packets that the line loses keep
/// connections from using it. So losses under a queue do not count as the line's.
struct PacketSigns: Sendable {
    private var losses = LossRecord()
    private var lossesOnLine = LossRecord()
    /// The smoothed round trip of packets, with queues; nil where unknown.
    private(set) var trip: Double?
    private var roundsSinceQueue = 0

    /// Records the packets of a connection since its last record.
    ///
    /// - Parameters:
    ///   - trip: their round trip; nil if unknown, and then any loss may be a queue's.
    ///   - least: the round trip without a queue.
    ///   - isShared: whether all transfers use this connection.
    mutating func record(areOrdered: Bool, trip: Double?, least: Double, isShared: Bool) {
        self.trip = trip
        if isLate(least: least) { roundsSinceQueue = 0 }
        losses.add(hasLoss: !areOrdered)
        lossesOnLine.add(hasLoss: !areOrdered && !isQueueing(least: least, isShared: isShared))
    }

    mutating func endRound() {
        losses.endRound()
        lossesOnLine.endRound()
        if trip != nil { roundsSinceQueue += 1 }
    }

    /// Whether packets were lost of late.
    var areAnyLost: Bool { losses.isAny }
    /// Whether packets were lost several times of late.
    var areLostAgainAndAgain: Bool { losses.isRepeated }
    /// Whether the line lost packets of late, whether or not it is full now.
    var areAnyLostOnLine: Bool { lossesOnLine.isAny }

    /// Returns whether the line repeatedly loses packets and is not full.
    func isHeldUpRepeatedly(least: Double, isShared: Bool) -> Bool {
        lossesOnLine.isRepeated && !isQueueing(least: least, isShared: isShared)
    }

    /// Returns whether the line loses packets and is not full.
    func isHeldUp(least: Double, isShared: Bool) -> Bool {
        lossesOnLine.isAny && !isQueueing(least: least, isShared: isShared)
    }

    /// Returns whether packets are known to be late.
    func isLate(least: Double) -> Bool { trip.map { RoundTripFilter.isLate($0, least: least) } ?? false }

    /// Returns whether there is a queue.
    ///
    /// Few packets of a single connection are timed, so a queue shows later than its drops. There it counts for some
    /// round trips.
    private func isQueueing(least: Double, isShared: Bool) -> Bool {
        isShared ? roundsSinceQueue < 4 : (trip ?? .infinity) > 1.5 * least + 0.01
    }
}

/// The recent round trips in which packets were lost.
///
/// A full link also loses packets: some in one round trip, then none for many. So losses that begin several times are
/// the line's.
struct LossRecord: Sendable {
    /// A bit for each of the last known round trips, the latest lowest: whether there was a loss.
    private var rounds: UInt32 = 0
    /// Whether there was a loss in this round trip; nil while unknown.
    private var hasLoss: Bool?

    mutating func add(hasLoss: Bool) { self.hasLoss = self.hasLoss == true || hasLoss }

    mutating func endRound() {
        guard let hasLoss else { return }
        rounds = rounds << 1 | (hasLoss ? 1 : 0)
        self.hasLoss = nil
    }

    /// Whether there was a loss.
    var isAny: Bool { rounds != 0 }

    /// Whether losses began at least three times.
    var isRepeated: Bool { (rounds & ~(rounds >> 1)).nonzeroBitCount >= 3 }
}
