/// The greatest rate of late: what a link can carry, of which many things show less.
///
/// It forgets against newer samples and not against the clock: as long as there is nothing to transfer, nothing is learned.
struct BandwidthFilter {
    /// The greatest first, each newer than the one before it.
    private var samples: [(time: Double, rate: Double)] = []

    /// The greatest rate, in bytes a second.
    var greatest: Double? { samples.first?.rate }

    /// - Parameter window: for how many seconds a sample counts.
    mutating func add(_ rate: Double, at now: Double, window: Double) {
        while let last = samples.last, last.rate <= rate { samples.removeLast() }
        samples.append((now, rate))
        if let outdated = samples.lastIndex(where: { $0.time <= now - window }) { samples.removeSubrange(...outdated) }
        // Samples that fall one after the other: of so many the ones in between say nothing more.
        if samples.count > Self.most { samples.remove(at: samples.count / 2) }
    }

    /// Forgets all, but for this.
    mutating func reset(to rate: Double, at now: Double) {
        samples = [(now, rate)]
    }

    private static let most = 64
}

/// The least round trip of late: how far away a host is, without the queues on the way.
///
/// A route may become longer, so the least is looked for anew from time to time. But where the link has been busy all
/// along, all that was seen is the length of the queue: so it rises by a quarter at most.
struct RoundTripFilter {
    /// The least, in seconds.
    private(set) var least: Double?
    /// The least since the search began, and when that was.
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
}

/// Whether more comes for more that is asked for, and for how long it has not.
struct BandwidthGrowth: Sendable {
    /// For how many rounds there has been no more.
    private(set) var roundsWithoutMore = 0
    /// The bandwidth that was found last.
    private var found: Double

    /// Begins with a bandwidth that is known.
    init(from found: Double = 0) {
        self.found = found
    }

    /// A round trip is over, by which so much was the greatest rate of late.
    mutating func endRound(_ rate: Double) {
        if rate >= 1.25 * found {
            (found, roundsWithoutMore) = (rate, 0)
        } else {
            roundsWithoutMore += 1
        }
    }
}

/// What a host had delivered at some moments of late.
struct DeliveryLog {
    private var entries: [(time: Double, delivered: Double)] = []

    /// Notes a moment. What is older than four spans is forgotten, and within one no more is kept than is of use.
    mutating func note(_ delivered: Double, at now: Double, span: Double) {
        if let last = entries.last, now - last.time < span / 16 { return }
        entries.append((now, delivered))
        if let outdated = entries.lastIndex(where: { $0.time < now - 4 * span }) { entries.removeSubrange(...outdated) }
    }

    /// Bytes a second over a time; nil if it is not known what was delivered then.
    func rate(_ delivered: Double, at now: Double, over span: Double) -> Double? {
        guard let old = entries.last(where: { $0.time <= now - span }) else { return nil }
        return (delivered - old.delivered) / (now - old.time)
    }
}

/// What came all at once, because it had waited for a packet that was lost.
///
/// The system keeps what came behind such a packet, and hands it over with it: for a moment that is several times what the line
/// carries. It came during the silence before, and is counted as if it had taken all of that time.
struct BurstArrivals: Sendable {
    private var silences: [(begin: Double, end: Double)] = []

    /// More than these do not end within what is measured at once.
    private static let most = 32

    /// Nothing was seen of a transfer meanwhile, and then all of it.
    mutating func note(from begin: Double, to end: Double) {
        silences.append((begin, end))
        if silences.count > Self.most { silences.removeFirst() }
    }

    /// Since when has been coming what is counted as delivered since then.
    func beginning(of time: Double) -> Double {
        silences.lazy.filter { $0.end > time }.map(\.begin).reduce(time, min)
    }
}

/// When something has taken so long that it must have stood in a queue.
enum Lateness {
    /// Seconds that are not late yet: a quarter more than it takes at least, and so much longer as any machine may.
    ///
    /// - Parameter least: what it takes without a queue.
    static func bound(least: Double) -> Double { 1.25 * least + 0.005 }
}
