/// Finds the greatest recent rate. Lower samples show a small demand or a loss, not the capacity of the link.
///
/// A sample can expire only when a newer sample comes, because without transfers nothing is measured.
struct BandwidthFilter {
    /// The samples, the greatest rate first. Each sample is newer than the one before.
    private var samples: [(time: Double, rate: Double)] = []

    /// The greatest recent rate, in bytes per second; nil without samples.
    var greatest: Double? { samples.first?.rate }

    /// - Parameter window: the number of seconds for which a sample counts.
    mutating func add(_ rate: Double, at now: Double, window: Double) {
        while let last = samples.last, last.rate <= rate { samples.removeLast() }
        samples.append((now, rate))
        if let outdated = samples.lastIndex(where: { $0.time <= now - window }) { samples.removeSubrange(...outdated) }
        if samples.count > Self.most { samples.remove(at: samples.count / 2) }
    }

    /// Replaces all samples by one.
    mutating func reset(to rate: Double, at now: Double) { samples = [(now, rate)] }

    private static let most = 64
}

/// Finds the shortest recent round trip, which shows the distance of a host without queues.
///
/// A route may become longer, so the minimum expires. It rises slowly: on a busy link, all samples include the queue.
struct RoundTripFilter {
    /// The shortest recent round trip in seconds; nil without samples.
    private(set) var least: Double?
    /// The shortest sample since the current search began.
    private var candidate = Double.infinity
    private var searchTime = 0.0

    private static let window = 30.0
    private static let greatestRise = 1.25

    mutating func add(_ seconds: Double, at now: Double) {
        guard let least, seconds > least else {
            self.least = seconds
            (searchTime, candidate) = (now, .infinity)
            return
        }
        candidate = min(candidate, seconds)
        guard now - searchTime > Self.window else { return }
        self.least = min(candidate, least * Self.greatestRise)
        (searchTime, candidate) = (now, .infinity)
    }

    /// Returns the longest wait without a queue. The 5 ms allow for delays inside the machines.
    static func lateness(of least: Double) -> Double { 1.25 * least + 0.005 }
}

/// Counts the round trips in which the bandwidth has not grown.
struct BandwidthGrowth: Sendable {
    private(set) var roundsWithoutMore = 0
    /// The bandwidth after its last growth.
    private var found: Double

    init(from found: Double = 0) { self.found = found }

    /// Records the bandwidth at the end of a round trip.
    mutating func endRound(_ rate: Double) {
        if rate >= 1.25 * found {
            (found, roundsWithoutMore) = (rate, 0)
        } else {
            roundsWithoutMore += 1
        }
    }
}

/// The number of bytes that a host had delivered at recent moments.
struct DeliveryLog {
    private var entries: [(time: Double, delivered: Double)] = []

    /// Records a moment, and removes moments older than four spans.
    mutating func record(_ delivered: Double, at now: Double, span: Double) {
        if let last = entries.last, now - last.time < span / 16 { return }
        entries.append((now, delivered))
        if let outdated = entries.lastIndex(where: { $0.time < now - 4 * span }) { entries.removeSubrange(...outdated) }
    }

    /// Returns the rate over a span, in bytes per second. Returns nil if the log is too short.
    func rate(_ delivered: Double, at now: Double, over span: Double) -> Double? {
        guard let old = entries.last(where: { $0.time <= now - span }) else { return nil }
        return (delivered - old.delivered) / (now - old.time)
    }
}

/// Spreads the bytes that a lost packet delayed over the time in which they arrived.
///
/// The system delivers the bytes behind a lost packet all at once. For a moment, the rate then seems too large.
struct BurstArrivals: Sendable {
    private var silences: [(begin: Double, end: Double)] = []

    /// The maximum number of silences to keep, enough for those that end within one sample.
    private static let most = 32

    /// Records a time in which no bytes of a transfer arrived.
    mutating func add(from begin: Double, to end: Double) {
        silences.append((begin, end))
        if silences.count > Self.most { silences.removeFirst() }
    }

    /// Returns the time at which the bytes delivered since `time` began to arrive.
    func beginning(of time: Double) -> Double {
        silences.lazy.filter { $0.end > time }.map(\.begin).reduce(time, min)
    }
}

/// Shows the losses and queues of a path, judged by its packets.
///
/// A full queue drops packets too, but then the transfers use the link as well as possible. Packets that the line loses
/// keep transfers from using the whole link. So losses while a queue exists do not count as losses of the line.
struct PacketSigns: Sendable {
    private(set) var losses = LossRecord()
    /// The losses of the line, even if there is a queue now.
    private(set) var lossesOnLine = LossRecord()
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

    /// Returns whether packets arrive later than without a queue. False if the round trip is unknown.
    func isLate(least: Double) -> Bool { (trip ?? 0) > RoundTripFilter.lateness(of: least) }

    /// Returns whether packets probably wait in a queue.
    ///
    /// Over a single connection, TCP measures the round trip of only few packets, so a queue shows only after it has
    /// dropped packets. There, a sign of a queue stays valid for some round trips.
    func isQueueing(least: Double, isShared: Bool) -> Bool {
        isShared ? roundsSinceQueue < 4 : (trip ?? .infinity) > 1.5 * least + 0.01
    }

    /// Returns the losses that hold transfers up: those of the line while it has no queue.
    func losses(holdingUp least: Double, isShared: Bool) -> LossRecord {
        isQueueing(least: least, isShared: isShared) ? LossRecord() : lossesOnLine
    }
}

/// Remembers in which recent round trips packets were lost.
///
/// A full link loses packets in one round trip, then none for many. Losses that begin several times are the line's.
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
