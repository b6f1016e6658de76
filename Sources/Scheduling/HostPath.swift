/// What is known of the way to one host, and how many bytes to keep under way on it.
///
/// The window is a multiple of bandwidth × round trip, what fits into the link: less leaves it empty, more only waits in a
/// queue somewhere, and what is asked for next waits behind it. Two things are looked at once a round trip. Whether more is
/// delivered for more that is asked for; and whether answers begin later than they could, which is the queue itself. As long
/// as no queue is to be seen there is room: on a link that loses packets transfers take longer than a round trip, and more of
/// them have to run than its bandwidth and its length say.
struct HostPath {
    /// Whether its connections are secure ones.
    private let isSecure: Bool
    private var beginning: StartingWidth
    private(set) var delivered = 0.0
    private(set) var bandwidth = BandwidthFilter()
    /// Of connections and answers.
    private(set) var roundTrip = RoundTripFilter()
    private(set) var packets = PacketSigns()
    /// Of answers alone: a server takes its time too.
    private var answer = RoundTripFilter()
    /// Whether the head of an answer is seen with the beginning of its body, which is in the same record of TLS.
    private(set) var isSeenLate = false
    /// What things of each kind have weighed.
    private(set) var sizes: [Double] = TransferKind.allCases.map(\.usualSize)
    /// Whether transfers share a connection, as HTTP/2 has it, and are meant to.
    private(set) var isShared = false
    private var mayShare = true

    /// Whether it is still being found out how much the link carries.
    private(set) var isInSlowStart = true
    private(set) var growth = BandwidthGrowth()
    private var roundEnd = 0.0
    /// Answers of this round, and how many of them came later than they could have.
    private var answers = 0
    private var lateAnswers = 0
    /// Bytes that are tried beyond what bandwidth and round trip say, for want of a queue.
    private var window: Double
    /// The most that was ever found to fit, since the link last became much worse.
    private(set) var widest = 0.0
    private var firstAnswers = InitialEstimate()
    /// What fits into the link by the first answers.
    private var foretold = 0.0
    private(set) var log = DeliveryLog()
    private var sightings = TLSRecordDelay()
    private var late = BurstArrivals()
    private var fall = CollapseDetector()

    /// Beyond this many there are servers who think it is an attack.
    static let greatestCap = 64.0

    /// So many round trips takes an answer at the start that says of room for more. One that took longer has waited for those that
    /// were asked for with it: a queue is made already, and what it drops of the last ones is missed late.
    private static let prompt = 1.5

    init(isSecure: Bool) {
        self.isSecure = isSecure
        beginning = StartingWidth(isSecure: isSecure)
        window = beginning.width * TransferKind.thumbnail.usualSize
    }

    func size(_ kind: TransferKind) -> Double { sizes[kind.rawValue] }

    var roundTripTime: Double { roundTrip.least ?? 0.2 }

    /// What fits into the link.
    var capacity: Double? { bandwidth.greatest.map { $0 * roundTripTime } }

    /// Begins with as much as was found to fit into the link earlier, if that is more than anybody would begin with.
    mutating func begin(with capacity: Double) {
        window = min(max(window, capacity), Self.greatestCap * size(.thumbnail))
    }

    // MARK: - Measurements

    mutating func noteConnect(_ seconds: Double, at now: Double) {
        roundTrip.add(seconds, at: now)
        guard isInSlowStart, capacity == nil, let wider = beginning.noteConnected(after: seconds) else { return }
        window = max(window, wider * size(.thumbnail))
    }

    mutating func noteAnswer(_ seconds: Double, of kind: TransferKind, isShared: Bool, at now: Double) {
        roundTrip.add(seconds, at: now)
        // Photos come side by side: their first packets follow each other closely on any link.
        if kind != .photo { firstAnswers.add(seconds) }
        if isInSlowStart, seconds < Self.prompt * roundTripTime, let wider = beginning.noteAnswered() {
            window = max(window, wider * size(.thumbnail))
        }
        // What comes of the shared connection, when that has been left, is no measure for others.
        guard mayShare || !isShared else { return }
        isSeenLate = isSecure && !isShared
        answer.add(seconds, at: now)
        if isShared { self.isShared = true }
        guard !isSeenLate else { return }
        answers += 1
        if isLate(seconds) { lateAnswers += 1 }
    }

    mutating func noteBeginning(at now: Double) { sightings.noteBeginning(delivered, at: now) }

    mutating func noteDelivered(_ bytes: Double, at now: Double) {
        delivered += bytes
        sightings.note(delivered, at: now)
    }

    /// Nothing was seen of an answer meanwhile, though there was more to come.
    mutating func noteSilence(from begin: Double, to end: Double) {
        if end - begin > roundTripTime { late.note(from: begin, to: end) }
    }

    mutating func notePackets(areOrdered: Bool, roundTrip: Double?) {
        packets.note(areOrdered: areOrdered, trip: roundTrip, least: roundTripTime, isShared: isShared)
        // An answer that is seen when its record is there may have taken as many round trips as its server sends it in. What
        // stands in a queue shows in the packets.
        guard isSeenLate else { return }
        answers += 1
        if packets.isLate(least: roundTripTime) { lateAnswers += 1 }
    }

    mutating func noteSize(_ size: Double, of kind: TransferKind) {
        sizes[kind.rawValue] += 0.1 * (size - sizes[kind.rawValue])
    }

    /// Takes what was delivered while a transfer ran for a sample of the bandwidth.
    mutating func sample(since time: Double, delivered before: Double, isSaturated: Bool, at now: Double) {
        // An answer without a body says nothing of what the link carries.
        guard now > time, time >= fall.time, delivered > before else { return }
        let rate = (delivered - before) / (now - late.beginning(of: time))
        if isSaturated || rate > bandwidth.greatest ?? 0 {
            bandwidth.add(rate, at: now, window: max(10 * roundTripTime, 1))
            widest = max(widest, capacity ?? 0)
        }
    }

    // MARK: - Window

    /// Bytes to keep under way, when so many may run at most.
    func window(cap: Double) -> Double {
        let thumbnail = size(.thumbnail)
        guard let capacity else { return window }
        return max(gain * capacity + unseen, min(window, cap * thumbnail), floor)
    }

    /// Bytes that have come, and that nobody sees: part of a record of TLS. Over one connection it is known how much of it there is,
    /// and counts where hardly more fits into the link. Over connections of their own each transfer has such a record, and is on
    /// average half through it.
    private var unseen: Double {
        isShared ? (isNarrow ? sightings.unseen : 10_240) : isSeenLate ? (capacity ?? 0) / 2 : 0
    }

    /// Whether less than a thumbnail fits into it: what is asked for too soon waits at its other end.
    private var isNarrow: Bool { capacity.map { $0 < size(.thumbnail) } ?? false }

    /// With less than this a short link is empty while the next thing is asked for: one thumbnail beside the one that is coming,
    /// but no more than comes in the blink of an eye, or it would be a queue itself. Over one connection it is asked for in time.
    private var floor: Double { isShared ? 0 : min(size(.thumbnail), soon) }

    /// What comes in the blink of an eye.
    private var soon: Double { (bandwidth.greatest ?? 0) * 0.25 }

    /// What one connection may be asked for while it gathers speed: a server sends twice as much each round trip, on a long way
    /// too much for the queue at its end.
    private var gathering: Double { 1.5 * soon }

    /// A little more than fits, so that the link never runs dry. Whether more would come is found out by ``reach``, where no
    /// queue is to be seen: where there is one, to ask for more would only make it longer. Over one connection, of which a part is
    /// not seen, a little less: when that fills a queue, all that comes over it waits for what is dropped.
    private var gain: Double { isShared ? 1.1875 : isInSlowStart ? 2 : 1.25 }

    /// Begins anew to find out how much the link carries: from now on transfers share a connection if they can, or do not.
    mutating func startAgain(sharing: Bool) {
        mayShare = sharing
        isShared = isShared && sharing
        answer = RoundTripFilter()
        (answers, lateAnswers) = (0, 0)
        // Not as at the very start: many connections that begin at once, all with a flight of packets, would drop each other's
        // last ones, and those are waited for the longest.
        (isInSlowStart, growth) = (false, BandwidthGrowth())
        window = StartingWidth.overOne * size(.thumbnail)
    }

    /// Forgets what was measured: another way leads there now. What things weigh, and what the server can do, stays.
    mutating func forget() {
        let (delivered, sizes, isShared) = (delivered, sizes, isShared)
        self = HostPath(isSecure: isSecure)
        (self.delivered, self.sizes, self.isShared) = (delivered, sizes, isShared)
    }

    /// Lets time pass. Once a round trip, what has been seen meanwhile is judged.
    ///
    /// - Parameters:
    ///   - isSaturated: whether there has been enough to do.
    ///   - overdue: how many answers are late and not here yet.
    mutating func advance(to now: Double, isSaturated: Bool, overdue: () -> Int, cap: Double) {
        log.note(delivered, at: now, span: fallSpan)
        fall.noteLoad(isSaturated, delivered: delivered, at: now)
        if let capacity = firstAnswers.capacity(size: size(.thumbnail)) {
            foretold = capacity
            window = min(max(window, capacity), cap * size(.thumbnail))
        }
        sightings.advance(to: now)
        guard now >= roundEnd else { return }
        roundEnd = now + max(roundTripTime, 0.05)
        packets.endRound()
        guard let rate = bandwidth.greatest else { return }
        growth.endRound(rate)
        if isSaturated { judgeQueue(overdue: overdue(), cap: cap) }
        (answers, lateAnswers) = (0, 0)
        if growth.roundsWithoutMore >= 3 { isInSlowStart = false }
    }

    /// Seconds that one takes over the link, as far as is known.
    var recordTime: Double { bandwidth.greatest.map { TLSRecordDelay.record / $0 } ?? 0 }

    /// Whether an answer that took so long stood in a queue.
    func isLate(_ wait: Double) -> Bool {
        let bound = Lateness.bound(least: answer.least ?? .infinity)
        return wait > (isSeenLate ? 2 * (bound + recordTime) : bound)
    }

    private mutating func judgeQueue(overdue: Int, cap: Double) {
        guard answers + overdue > 0 else { return }
        // Where packets get lost answers wait for them, over one connection all for each, and no queue keeps them.
        let isLate = 2 * (lateAnswers + overdue) > answers + overdue && !(isShared && isLossy)
        if isLate, isShared, growth.roundsWithoutMore < 2, window < gathering || !packets.isLate(least: roundTripTime) {
            // Over one connection answers wait for each other while it still gathers speed, and it gathers none that it is not
            // asked for.
            window = max(window, min(3 * window, gathering, cap * size(.thumbnail)))
        } else if isLate {
            isInSlowStart = false
            // Not at once: at the start everything is asked for together, and is in its own way.
            window *= 0.9
        } else {
            let wider = min(max(window, size(.thumbnail)) * (isInSlowStart ? 3 : 1.25), cap * size(.thumbnail))
            window = max(window, min(wider, farthest))
        }
    }

    /// Answers tell of what was asked for a while ago: with connections that had to be made first, two round trips. So what is
    /// known to fit bounds what is tried. A link that is wider will soon have delivered more, and one that is not would only
    /// drop it.
    ///
    /// Once no more comes for more that is asked for, little beyond it is worth trying: it would only fill a queue, and what a
    /// queue drops at the end of an answer is waited for for seconds. Where packets get lost for other reasons, though, it takes
    /// more transfers than bandwidth and round trip say.
    private var farthest: Double {
        guard let capacity else { return .infinity }
        if isShared, isInSlowStart, !isHeldUpByLosses { return max(1.25 * capacity, gathering) }
        return isInSlowStart || isHeldUpByLosses ? max(4 * capacity, 2 * foretold) : 1.5 * capacity
    }

    /// Two of these are looked back upon.
    var someTime: Double { max(2 * roundTripTime, 0.5) }

    /// What comes on a slow link is seen a thumbnail at a time, over TLS: some of them have to have come before there is a rate.
    var fallSpan: Double { max(someTime, bandwidth.greatest.map { 4 * size(.thumbnail) / $0 } ?? 0) }

    /// The link has become much worse than it was, though there was enough to do: what was known of it is forgotten.
    /// Returns whether it is so much worse that what is under way is of another world.
    mutating func noteFall(at now: Double) -> Bool {
        guard !isHeldUpByLosses, let known = bandwidth.greatest,
            let found = fall.judge(log, delivered, known, isLossy: packets.areAnyLost, over: 2 * fallSpan, at: now)
        else { return false }
        // What has been judged is not judged again.
        log = DeliveryLog()
        fall.note(at: now)
        bandwidth.reset(to: found.rate, at: now)
        growth = BandwidthGrowth(from: found.rate)
        (window, foretold, widest) = (0, 0, 0)
        return found.isAnotherWorld
    }
}

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
