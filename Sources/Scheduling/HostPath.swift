/// The measurements of the path to one host, and the window that results from them.
///
/// The window is a multiple of bandwidth × round trip, the number of bytes under way on the link. With less, the link
/// is idle at times; with more, bytes wait in a queue, and later requests wait behind them. In each round trip, this
/// type checks whether the bandwidth has grown, and whether answers begin late, which shows a queue. Without a queue
/// the window may grow. With losses, transfers take longer than a round trip, so more must run to fill the link.
struct HostPath {
    private let isSecure: Bool
    /// Whether the path is for uploads. Then TCP measures the queue, because this machine sends the packets.
    private let isForUploads: Bool
    private(set) var delivered = 0.0
    private(set) var bandwidth = BandwidthFilter()
    /// The measured round trips of connections and answers.
    private(set) var roundTrip = RoundTripFilter()
    private(set) var packets = PacketSigns()
    /// The measured waits for answers alone, which include the server's time.
    private var answer = RoundTripFilter()
    /// Whether the program sees the head of an answer late. That happens if the head is in the same TLS record as the
    /// beginning of the body. For uploads the value is true, because the answer follows the whole file.
    private var isSeenLate = false
    /// The average size of transfers of each kind, in bytes.
    private var sizes: [Double] = TransferKind.allCases.map(\.usualSize)
    /// Whether transfers share a connection.
    private(set) var isShared = false
    /// Whether transfers may share a connection, according to the governor.
    private var mayShare = true

    /// Whether the path still increases its window to find the bandwidth, like TCP's slow start.
    private var isInSlowStart = true
    private var growth = BandwidthGrowth()
    private var roundEnd = 0.0
    /// The number of answers in this round trip, and how many of them were late.
    private var answers = 0
    private var lateAnswers = 0
    /// The window to try beyond bandwidth × round trip, while there is no sign of a queue.
    private var trialWindow: Double
    /// The greatest capacity since the last collapse.
    private(set) var widest = 0.0
    /// The number of transfers to start before the first measurement.
    ///
    /// If each transfer has its own connection, servers send all thumbnails at once (RFC 6928). A link of some megabits
    /// per second then drops the last packets, and the repair takes three round trips. So the width begins small and
    /// grows by one with each answer. On a short path, where repairs are fast, it also grows by two with each
    /// connection. Over TLS, transfers may share a connection and come one after the other, so it stays.
    private var startingWidth: Double
    private var initialEstimate = InitialEstimate()
    /// The capacity according to the initial estimate.
    private var estimated = 0.0
    private var log = DeliveryLog()
    private var recordDelay = TLSRecordDelay()
    private var bursts = BurstArrivals()
    private var collapse = CollapseDetector()

    /// The maximum number of transfers of a host. With more transfers, some servers suspect an attack.
    static let greatestCap = 64.0

    init(isSecure: Bool, isForUploads: Bool = false) {
        (self.isSecure, self.isForUploads) = (isSecure, isForUploads)
        startingWidth = isSecure || isForUploads ? Self.widthOverOne : Self.widthOverMany
        // Each connection begins slowly, whatever the size of its file, so the first window is a number of files.
        trialWindow = startingWidth * (isForUploads ? TransferKind.upload : .thumbnail).usualSize
        isSeenLate = isForUploads
    }

    /// The starting width over one connection, for uploads, and after a restart.
    private static let widthOverOne = 8.0
    /// The starting width over many connections, and its maxima on short and long paths.
    private static let widthOverMany = 5.0
    private static let greatestWidth = 12.0
    private static let greatestWidthOnLongPath = 8.0
    /// The round trip in seconds from which a path counts as long.
    private static let longPath = 0.2

    /// Starts with an earlier run's capacity, unless the usual window is larger.
    mutating func begin(with capacity: Double) {
        trialWindow = min(max(trialWindow, capacity), Self.greatestCap * usualSize)
    }

    func size(_ kind: TransferKind) -> Double { sizes[kind.rawValue] }

    /// The average size of the many transfers that share the path: thumbnails or uploads.
    var usualSize: Double { size(isForUploads ? .upload : .thumbnail) }

    var roundTripTime: Double { roundTrip.least ?? 0.2 }

    /// The number of bytes that the link holds at once; nil until the bandwidth is measured.
    var capacity: Double? { bandwidth.greatest.map { $0 * roundTripTime } }

    // MARK: - Measurements

    mutating func recordConnect(_ seconds: Double, at now: Double) {
        roundTrip.add(seconds, at: now)
        if !isForUploads, capacity == nil, seconds < Self.longPath { widenStart(by: 2, to: Self.greatestWidth) }
    }

    mutating func recordAnswer(_ seconds: Double, of kind: TransferKind, isShared: Bool, at now: Double) {
        // The wait for an upload's answer includes the server's work and the time that bytes wait in this machine.
        guard !isForUploads else { return }
        roundTrip.add(seconds, at: now)
        // The first packets of several photos arrive close together on any link, so they show nothing.
        if kind != .photo { initialEstimate.add(seconds) }
        widenStart(by: 1, to: Self.greatestWidthOnLongPath)
        // After the governor has left the shared connection, answers over it say nothing about the other connections.
        guard mayShare || !isShared else { return }
        isSeenLate = isSecure && !isShared
        answer.add(seconds, at: now)
        if isShared { self.isShared = true }
        guard !isSeenLate else { return }
        answers += 1
        if isLate(seconds) { lateAnswers += 1 }
    }

    private mutating func widenStart(by count: Double, to most: Double) {
        guard isInSlowStart, !isSecure, startingWidth < most else { return }
        startingWidth = min(startingWidth + count, most)
        trialWindow = max(trialWindow, startingWidth * size(.thumbnail))
    }

    /// Records that transfers begin after a pause.
    mutating func recordBeginning(at now: Double) { recordDelay.recordBeginning(delivered, at: now) }

    mutating func recordDelivered(_ bytes: Double, at now: Double) {
        delivered += bytes
        recordDelay.record(delivered, at: now)
    }

    /// Records that no bytes of a photo arrived for a time.
    mutating func recordSilence(from begin: Double, to end: Double) {
        if end - begin > roundTripTime { bursts.add(from: begin, to: end) }
    }

    mutating func recordPackets(areOrdered: Bool, roundTrip: Double?, at now: Double) {
        if isForUploads, let roundTrip { self.roundTrip.add(roundTrip, at: now) }
        packets.record(areOrdered: areOrdered, trip: roundTrip, least: roundTripTime, isShared: isShared)
        // The wait for a whole TLS record says little, so the packets show whether there is a queue.
        guard isSeenLate else { return }
        answers += 1
        // The user waits for no single file, so uploads may keep a longer queue. It keeps the link busy after a loss.
        if isForUploads
            ? packets.isQueueing(least: roundTripTime, isShared: isShared) : packets.isLate(least: roundTripTime)
        {
            lateAnswers += 1
        }
    }

    mutating func recordSize(_ size: Double, of kind: TransferKind) {
        sizes[kind.rawValue] += 0.1 * (size - sizes[kind.rawValue])
    }

    /// Adds a sample of the bandwidth, from the bytes delivered since a time.
    mutating func sample(since time: Double, delivered before: Double, isSaturated: Bool, at now: Double) {
        guard now > time, time >= collapse.time, delivered > before else { return }
        let rate = (delivered - before) / (now - bursts.beginning(of: time))
        if isSaturated || rate > bandwidth.greatest ?? 0 {
            bandwidth.add(rate, at: now, window: max(10 * roundTripTime, 1))
            widest = max(widest, capacity ?? 0)
        }
    }

    // MARK: - Window

    /// Returns how many bytes should be requested but not yet received. At most `cap` transfers run.
    func window(cap: Double) -> Double {
        guard let capacity else { return trialWindow }
        return max(gain * capacity + unseen, min(trialWindow, cap * usualSize), floor)
    }

    /// The factor by which the window exceeds the capacity. It keeps the link busy. Over one connection it is smaller:
    /// ``unseen`` counts partial records there, and all transfers wait if a queue drops a packet.
    private var gain: Double { isShared ? 1.1875 : 1.25 }

    /// The number of bytes in incomplete TLS records, which have arrived but are not visible.
    ///
    /// Over one connection, the value is an estimate if the link holds less than a thumbnail. Over several
    /// connections, each transfer is on average halfway through a record.
    private var unseen: Double {
        guard isShared else { return isSeenLate ? (capacity ?? 0) / 2 : 0 }
        return (capacity ?? .infinity) < size(.thumbnail) ? recordDelay.unseen : 10_240
    }

    /// The least window. With a smaller window, a short link would be idle between two requests. The window holds one
    /// thumbnail, but no more than ``moment``. A shared connection does not need this minimum.
    private var floor: Double { isShared ? 0 : min(usualSize, moment) }

    /// The number of bytes that arrive in a quarter of a second.
    private var moment: Double { (bandwidth.greatest ?? 0) * 0.25 }

    /// The window of one connection that still gains speed. A larger window would overflow the queue of a long path.
    private var gatheringWindow: Double { 1.5 * moment }

    /// Restarts the measurement after transfers begin or stop sharing a connection.
    mutating func restart(sharing: Bool) {
        mayShare = sharing
        isShared = isShared && sharing
        answer = RoundTripFilter()
        (answers, lateAnswers) = (0, 0)
        // Skip slow start, because many connections that begin together would make each other lose packets.
        (isInSlowStart, growth) = (false, BandwidthGrowth())
        trialWindow = Self.widthOverOne * size(.thumbnail)
    }

    /// Discards the measurements of the path, but keeps sizes and the kind of connection.
    mutating func reset() {
        let (delivered, sizes, isShared) = (delivered, sizes, isShared)
        self = HostPath(isSecure: isSecure, isForUploads: isForUploads)
        (self.delivered, self.sizes, self.isShared) = (delivered, sizes, isShared)
    }

    /// Evaluates the measurements up to a time, once per round trip.
    ///
    /// - Parameters:
    ///   - isSaturated: whether there has been enough to transfer to keep the link busy.
    ///   - overdue: the number of answers that are late and have not begun.
    mutating func advance(to now: Double, isSaturated: Bool, overdue: () -> Int, cap: Double) {
        log.record(delivered, at: now, span: collapseSpan)
        collapse.recordLoad(isSaturated, delivered: delivered, at: now)
        if let capacity = initialEstimate.takeCapacity(size: size(.thumbnail)) {
            estimated = capacity
            trialWindow = min(max(trialWindow, capacity), cap * usualSize)
        }
        recordDelay.advance(to: now)
        guard now >= roundEnd else { return }
        roundEnd = now + max(roundTripTime, 0.05)
        packets.endRound()
        guard let rate = bandwidth.greatest else { return }
        growth.endRound(rate)
        if isSaturated { judgeQueue(overdue: overdue(), cap: cap) }
        (answers, lateAnswers) = (0, 0)
        if growth.roundsWithoutMore >= 3 { isInSlowStart = false }
    }

    /// The time in seconds that a full TLS record takes to arrive.
    private var recordTime: Double { bandwidth.greatest.map { TLSRecordDelay.record / $0 } ?? 0 }

    /// Returns whether an answer waited in a queue, judged by its wait.
    func isLate(_ wait: Double) -> Bool {
        let bound = RoundTripFilter.lateness(of: answer.least ?? .infinity)
        return wait > (isSeenLate ? 2 * (bound + recordTime) : bound)
    }

    private mutating func judgeQueue(overdue: Int, cap: Double) {
        guard answers + overdue > 0 else { return }
        let isLate = 2 * (lateAnswers + overdue) > answers + overdue
        if isForUploads {
            // Each file begins slowly, over a connection that may have been idle, and waits for its answer in the end.
            // So more bytes must be under way than the link holds, and only a queue shows how many.
            let present = window(cap: cap)
            trialWindow = isLate ? present * 0.9 : min(present * 1.1, cap * usualSize)
            return
        }
        if isLate, isShared, growth.roundsWithoutMore < 2,
            trialWindow < gatheringWindow || !packets.isLate(least: roundTripTime)
        {
            // While one connection gains speed, its answers wait for each other. It gains more only with more requests.
            trialWindow = max(trialWindow, min(3 * trialWindow, gatheringWindow, cap * size(.thumbnail)))
        } else if isLate {
            isInSlowStart = false
            // The window shrinks slowly, because the first requests are sent together and delay each other.
            trialWindow *= 0.9
        } else {
            let wider = min(max(trialWindow, usualSize) * (isInSlowStart ? 3 : 1.25), cap * usualSize)
            trialWindow = max(trialWindow, min(wider, greatestTrialWindow))
        }
    }

    /// The largest window to try.
    ///
    /// A larger window shows its effect after up to two round trips, so the known capacity limits it. If the link
    /// carries more, that capacity soon grows. After the start, more bytes would only fill a queue, except with losses.
    private var greatestTrialWindow: Double {
        guard let capacity else { return .infinity }
        if isShared, isInSlowStart, !isHeldUpByLosses { return max(1.25 * capacity, gatheringWindow) }
        return isInSlowStart || isHeldUpByLosses ? max(4 * capacity, 2 * estimated) : 1.5 * capacity
    }

    // MARK: - Losses, silences and collapse

    /// Whether packets get lost without a queue, which keeps transfers from using the whole link.
    var isHeldUpByLosses: Bool { lossesHoldingUp.isAny }

    /// Whether packets get lost repeatedly without a queue.
    var areLossesRepeated: Bool { lossesHoldingUp.isRepeated }

    private var lossesHoldingUp: LossRecord { packets.losses(holdingUp: roundTripTime, isShared: isShared) }

    /// Whether the bandwidth has stopped growing. Losses, or many round trips without growth, show that.
    var isSettled: Bool { isHeldUpByLosses || (!isInSlowStart && growth.roundsWithoutMore >= 12) }

    /// Returns the latest rate in bytes per second, if known. With losses, it is measured over a shorter time.
    func presentRate(at now: Double) -> Double? {
        log.rate(
            delivered, at: now, over: isHeldUpByLosses ? max(4 * roundTripTime, collapseSpan / 2) : 2 * collapseSpan)
    }

    /// Returns the silence in seconds that shows a loss. If it lasts longer, the server resends only after a time-out.
    ///
    /// - Parameter others: the number of running transfers of the host.
    func silence(among others: Int) -> Double {
        1.5 * max(roundTripTime, packets.trip ?? 0) + (isSeenLate ? Double(others) * recordTime : 0)
    }

    /// Half the time for detecting a collapse. On a slow link, several thumbnails have to arrive to show a rate.
    private var collapseSpan: Double {
        max(2 * roundTripTime, 0.5, bandwidth.greatest.map { 4 * usualSize / $0 } ?? 0)
    }

    /// Detects a collapse of a busy link, and restarts its measurement. Returns whether to interrupt transfers.
    mutating func detectCollapse(at now: Double) -> Bool {
        guard !isHeldUpByLosses, let known = bandwidth.greatest,
            let found = collapse.detect(
                log, delivered, known, isLossy: packets.losses.isAny, over: 2 * collapseSpan, at: now)
        else { return false }
        log = DeliveryLog()
        bandwidth.reset(to: found.rate, at: now)
        growth = BandwidthGrowth(from: found.rate)
        (trialWindow, estimated, widest) = (0, 0, 0)
        return found.isSevere
    }
}

/// Estimates how many bytes of an incomplete TLS record have arrived. TLS shows a record only when it is complete.
///
/// On a slow link a record takes half a second. A request that is sent when the record is visible is late. A request
/// that is sent much earlier delays the photo that the user opens. Each record becomes visible with its last byte. So
/// complete records show the rate of the link, and the rate shows how much of the next record has arrived.
struct TLSRecordDelay: Sendable {
    /// The estimated number of invisible bytes; 0 until records show a rate.
    private(set) var unseen = 0.0
    private var last: [(time: Double, delivered: Double)] = []

    /// The number of recent deliveries that determine the rate.
    private static let most = 9
    /// The number of bytes in the TLS records of most servers. RFC 8446 allows no more bytes.
    static let record = 16_384.0

    /// Records the total number of bytes delivered.
    mutating func record(_ delivered: Double, at now: Double) {
        unseen = 0
        if last.last?.time == now { last.removeLast() }
        last.append((now, delivered))
        if last.count > Self.most { last.removeFirst() }
    }

    /// Records that transfers begin again after a pause. The pause does not lower the measured rate.
    mutating func recordBeginning(_ delivered: Double, at now: Double) {
        unseen = 0
        guard let newest = last.last else { return record(delivered, at: now) }
        for index in last.indices { last[index].time += now - newest.time }
    }

    mutating func advance(to now: Double) {
        guard last.count > 2, let first = last.first, let newest = last.last, newest.time > first.time else { return }
        let rate = (newest.delivered - first.delivered) / (newest.time - first.time)
        unseen = min(max(0, now - newest.time) * rate, Self.record)
    }
}

/// Detects that a link carries much less than before.
struct CollapseDetector: Sendable {
    /// The time when the last collapse was found. Earlier measurements no longer count.
    private(set) var time = -Double.infinity
    /// The time since which bytes have arrived on a saturated link, and the number of bytes before.
    private var busy: (since: Double, delivered: Double)?

    /// The bytes that show a link's rate: three packets. Fewer arrive after a loss, or while the link is asleep.
    private static let sign = 4_344.0
    /// The lowest rate that a working link can have, in bytes per second.
    private static let least = 2_000.0

    /// Records whether there is enough to transfer. Time spent connecting and pauses do not count as a collapse.
    mutating func recordLoad(_ isSaturated: Bool, delivered: Double, at now: Double) {
        let isBegun = busy.map { delivered > $0.delivered } ?? false
        busy = !isSaturated ? nil : isBegun ? busy : (now, delivered)
    }

    /// Detects a collapse and records its time. Returns the present rate, and whether to interrupt running transfers.
    /// Returns nil without a collapse.
    ///
    /// - Parameters:
    ///   - isLossy: whether packets get lost. Bytes behind a lost packet arrive all at once, so the bandwidth seems
    ///     larger than it is. Then only a larger fall of the rate is a collapse.
    ///   - span: the number of seconds to look back.
    mutating func detect(
        _ log: DeliveryLog, _ delivered: Double, _ known: Double, isLossy: Bool, over span: Double, at now: Double
    ) -> (rate: Double, isSevere: Bool)? {
        guard let busy, now - busy.since >= span, let rate = log.rate(delivered, at: now, over: span),
            rate < (isLossy ? known / 8 : known / 2), rate * span > Self.sign
        else { return nil }
        time = now
        guard rate < known / 8 else { return (max(rate, Self.least), false) }
        // Many of the bytes in `rate` may have arrived before the collapse.
        let recent = log.rate(delivered, at: now, over: span / 4) ?? rate
        return (max(min(rate, recent), Self.least), true)
    }
}

/// Estimates a link's capacity from its first answers.
///
/// The first requests are sent together, so the server sends the answers one behind the other, as fast as the narrowest
/// link lets them through. The time between two answers is the time that the link takes for one answer.
struct InitialEstimate: Sendable {
    /// The waits so far; nil after the result.
    private var waits: [Double]? = []

    /// The number of answers that an estimate needs.
    private static let enough = 5

    mutating func add(_ wait: Double) { waits?.append(wait) }

    /// Returns the link's capacity in bytes. Returns nil until there are enough answers, and after the first result.
    ///
    /// - Parameter size: the number of bytes in each answer.
    mutating func takeCapacity(size: Double) -> Double? {
        guard let sorted = waits?.sorted(), sorted.count >= Self.enough else { return nil }
        waits = nil
        // A lost packet or a slow server may have delayed the last answers.
        let last = sorted.count * 3 / 4
        let spread = max(sorted[last] - sorted[0], 0.001)
        return Double(last) * size * sorted[0] / spread
    }
}
