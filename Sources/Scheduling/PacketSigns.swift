/// Shows the losses and queues of a path, judged by its packets.
///
/// A full queue drops packets too, but then the transfers use the link as well as possible. Packets that the line loses
/// keep connections from using it. So losses while a queue exists do not count as losses of the line.
struct PacketSigns: Sendable {
    private var losses = LossRecord()
    private var lossesOnLine = LossRecord()
    /// The smoothed round trip of packets in seconds, with queues; nil if unknown.
    private(set) var trip: Double?
    private var roundsSinceQueue = 0

    /// Records the packets of a connection since its last record.
    ///
    /// - Parameters:
    ///   - trip: the round trip of the packets; nil if unknown, and then a queue may have caused any loss.
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

    /// Whether packets were lost in recent round trips.
    var areAnyLost: Bool { losses.isAny }
    /// Whether packets were lost several times in recent round trips.
    var areLostAgainAndAgain: Bool { losses.isRepeated }
    /// Whether the line lost packets in recent round trips, even if there is a queue now.
    var areAnyLostOnLine: Bool { lossesOnLine.isAny }

    /// Returns whether the line repeatedly loses packets and is not full.
    func isHeldUpRepeatedly(least: Double, isShared: Bool) -> Bool {
        lossesOnLine.isRepeated && !isQueueing(least: least, isShared: isShared)
    }

    /// Returns whether the line loses packets and is not full.
    func isHeldUp(least: Double, isShared: Bool) -> Bool {
        lossesOnLine.isAny && !isQueueing(least: least, isShared: isShared)
    }

    /// Returns whether packets arrive later than without a queue. False if the round trip is unknown.
    func isLate(least: Double) -> Bool { trip.map { RoundTripFilter.isLate($0, least: least) } ?? false }

    /// Returns whether packets probably wait in a queue.
    ///
    /// TCP measures the round trip of only few packets of a single connection, so a queue shows later than its drops.
    /// There a queue counts for some round trips.
    func isQueueing(least: Double, isShared: Bool) -> Bool {
        isShared ? roundsSinceQueue < 4 : (trip ?? .infinity) > 1.5 * least + 0.01
    }
}

/// Remembers in which recent round trips packets were lost.
///
/// A full link also loses packets: some in one round trip, then none for many. So losses that begin several times are
/// losses of the line.
struct LossRecord: Sendable {
    /// One bit for each recent round trip, set if there was a loss. The lowest bit is the latest round trip.
    private var rounds: UInt32 = 0
    /// Whether there was a loss in this round trip; nil while unknown.
    private var hasLoss: Bool?

    mutating func add(hasLoss: Bool) { self.hasLoss = self.hasLoss == true || hasLoss }

    mutating func endRound() {
        guard let hasLoss else { return }
        rounds = rounds << 1 | (hasLoss ? 1 : 0)
        self.hasLoss = nil
    }

    /// Whether there was a loss in any recent round trip.
    var isAny: Bool { rounds != 0 }

    /// Whether losses began at least three times in recent round trips.
    var isRepeated: Bool { (rounds & ~(rounds >> 1)).nonzeroBitCount >= 3 }
}
