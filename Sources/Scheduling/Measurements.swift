/// The greatest rate of late: other samples show the demand or a loss, not what the link can carry.
///
/// Samples expire against newer ones, not against the clock: without transfers nothing is learned.
struct BandwidthFilter {
    /// The greatest first, each newer than the one before it.
    private var samples: [(time: Double, rate: Double)] = []

    /// The greatest rate, in bytes a second.
    var greatest: Double? { samples.first?.rate }

    /// - Parameter window: seconds for which a sample counts.
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

/// The least round trip of late: the distance of a host without queues.
///
/// A route may become longer, so the least expires. It rises by at most a quarter at a time, because on a busy link all
/// samples include the queue.
struct RoundTripFilter {
    /// The least, in seconds.
    private(set) var least: Double?
    /// The least sample since the search began.
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

    /// Returns whether a wait was so long that it included a queue.
    static func isLate(_ wait: Double, least: Double) -> Bool { wait > lateness(of: least) }

    /// Returns the longest wait without a queue: a quarter above the least, and some time for the machines.
    static func lateness(of least: Double) -> Double { 1.25 * least + 0.005 }
}

/// Counts the round trips in which the bandwidth has not grown.
struct BandwidthGrowth: Sendable {
    private(set) var roundsWithoutMore = 0
    /// The bandwidth after the last growth.
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

/// The bytes that a host had delivered at recent moments.
struct DeliveryLog {
    private var entries: [(time: Double, delivered: Double)] = []

    /// Records a moment, and drops those older than four spans.
    mutating func record(_ delivered: Double, at now: Double, span: Double) {
        if let last = entries.last, now - last.time < span / 16 { return }
        entries.append((now, delivered))
        if let outdated = entries.lastIndex(where: { $0.time < now - 4 * span }) { entries.removeSubrange(...outdated) }
    }

    /// Returns the rate over a span, in bytes a second; nil if the log is too short.
    func rate(_ delivered: Double, at now: Double, over span: Double) -> Double? {
        guard let old = entries.last(where: { $0.time <= now - span }) else { return nil }
        return (delivered - old.delivered) / (now - old.time)
    }
}

/// Spreads the bytes that a lost packet held back over the time in which they came.
///
/// The system keeps the bytes behind a lost packet and delivers all at once when it arrives. For a moment that looks
/// like several times the bandwidth.
struct BurstArrivals: Sendable {
    private var silences: [(begin: Double, end: Double)] = []

    /// The most silences that end within one sample.
    private static let most = 32

    /// Records a silence of a transfer that ended with bytes.
    mutating func add(from begin: Double, to end: Double) {
        silences.append((begin, end))
        if silences.count > Self.most { silences.removeFirst() }
    }

    /// Returns since when the bytes have been coming that were delivered since a time.
    func beginning(of time: Double) -> Double {
        silences.lazy.filter { $0.end > time }.map(\.begin).reduce(time, min)
    }
}
