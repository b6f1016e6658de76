import Model
import Numbers

/// A host's state in the governor: its path, limit, reachability and running transfers.
struct GovernedHost: Sendable {
    var path: HostPath
    var cap = HostCap()
    var reachability = Reachability()
    var trial = SharingTrial()
    /// The times that the server takes to begin its answers to thumbnail requests.
    var waits = AnswerWaits()
    /// The quality of the path; nil until it is measured.
    private(set) var measuredQuality: LinkQuality?
    private var qualityTime = -Double.infinity
    /// The number of running transfers.
    var running = 0
    /// The number of bytes that were requested but not received.
    var underWay = 0.0
    /// The importance of the transfer that started last, except for second requests.
    var lastStarted = Importance.rest
    /// The number of waiting transfers, and whether the host wanted no requests, as `setWaiting` last set them.
    private(set) var waiting = 0
    private var isSilent = false

    init(_ capacity: Double?, isSecure: Bool, isForUploads: Bool) {
        path = HostPath(isSecure: isSecure, isForUploads: isForUploads)
        if let capacity { path.begin(with: capacity) }
    }

    /// The quality of the path, which counts as good until it is measured.
    var quality: LinkQuality { measuredQuality ?? .good }

    /// The number of bytes to keep requested but not yet received.
    var window: Double { path.window(cap: cap.value) }

    /// The maximum number of thumbnails or uploads to run at once.
    var width: Int {
        Int(clamped: min(max((window / max(path.usualSize, 1)).rounded(.up), 1), cap.value))
    }

    /// Whether no transfer runs or waits.
    var isIdle: Bool { running == 0 && waiting == 0 }

    /// Whether the governor may remove the host. The host must be idle, reachable, and without a lowered limit.
    var isForgettable: Bool { isIdle && !reachability.isOffline && cap.isWhole }

    /// Whether a waiting transfer may start as soon as the window allows.
    var hasMoreToStart: Bool { waiting > 0 && !isSilent }

    /// Returns the time of the next probe, or of the end of a pause that the host asked for; nil without either.
    func nextTry(at now: Double) -> Double? {
        reachability.nextProbe ?? (cap.isSilent(at: now) ? cap.silenceEnd : nil)
    }

    // MARK: - Admission

    /// The maximum number of files of this machine to read at once.
    private static let localWidth = 8
    /// The maximum number of urgent attempts to reach a host at once. The user may know that the host is back.
    private static let urgentWidthOffline = 2

    /// Whether another file of this machine may be read now.
    var hasSpaceForLocal: Bool { running < Self.localWidth }

    /// Returns whether a transfer may try the unreachable host. Probes and urgent transfers may.
    mutating func admitsOffline(_ candidate: TransferCandidate, at now: Double) -> Bool {
        reachability.takeProbe(at: now) || (candidate.isUrgent && running < Self.urgentWidthOffline)
    }

    /// Returns the kind of connection for a transfer, and whether to split it into pieces.
    ///
    /// On a busy link, losses have slowed down the existing connections, and each would gain only one packet per round
    /// trip. Many new connections double their speed in that time. Over a shared connection, however, the server sends
    /// the most important answer first. So a photo uses other connections only where the line loses packets.
    func way(for candidate: TransferCandidate) -> Admission.Way {
        // Uploads over a shared connection would share its window, and wait for the same lost packets.
        if candidate.kind == .upload { return Admission.Way(.unshared) }
        let usual: Admission.Way = trial.isUnshared ? .few : .any
        guard candidate.kind == .photo, path.capacity != nil else { return usual }
        guard !path.isShared else {
            return candidate.isUrgent && path.packets.lossesOnLine.isAny
                ? Admission.Way(.unshared, inPieces: true) : usual
        }
        guard isGoodForPieces else { return usual }
        return Admission.Way(trial.isUnshared ? .few : candidate.isSecure ? .unshared : .any, inPieces: true)
    }

    /// The way to request a hanging transfer a second time, if that is useful.
    ///
    /// Over a shared connection, later answers show the server which packet was lost, so a second request is useless.
    var wayForHanging: Admission.Way? {
        guard !path.isShared, !reachability.isOffline, !isSilent, Double(running) < cap.value else { return nil }
        // A connection of the kind `few` might be the very one that hangs.
        return trial.isUnshared ? Admission.Way(.unshared) : .any
    }

    /// Whether many connections are faster than a few. False if two or three connections fill the link and it loses no
    /// packets. Also false on a local network, where connections reach their speed at once.
    private var isGoodForPieces: Bool {
        path.roundTripTime > Self.local && (path.widest > Self.worthPieces || path.packets.losses.isRepeated)
    }

    private static let local = 0.01
    private static let worthPieces = 49_152.0

    /// Returns the bytes by which a transfer fills the window. Photos count for less than their rest, so several run.
    func cost(_ transfer: RunningTransfer) -> Double {
        guard !transfer.isLeft else { return 0 }
        let rest = transfer.rest(expecting: path.size(transfer.candidate.kind))
        guard transfer.candidate.kind == .photo else { return rest }
        let sideBySide: Double =
            switch quality {
            case .good: 4
            case .fair: 2
            case .poor: 1
            }
        return min(rest, window / sideBySide)
    }

    // MARK: - Events

    /// Ends a bandwidth sample of a transfer and begins the next.
    mutating func sample(_ transfer: inout RunningTransfer, at now: Double) {
        path.sample(
            since: transfer.sampleTime, delivered: transfer.deliveredAtSample, isSaturated: transfer.isSaturated,
            at: now)
        (transfer.sampleTime, transfer.deliveredAtSample) = (now, path.delivered)
    }

    /// Records that a transfer starts while no other runs.
    mutating func recordBeginning(at now: Double) {
        reachability.recordBeginning(at: now)
        path.recordBeginning(at: now)
    }

    /// Records the end of a transfer.
    mutating func recordEnd(of transfer: RunningTransfer, _ ending: TransferEvent.Ending, at now: Double) {
        running -= 1
        if transfer.isTrial { trial.recordEnd() }
        switch ending {
        case .completed:
            var transfer = transfer
            // The few packets since a photo's last sample show no rate.
            let isShort = transfer.isLong && now - transfer.sampleTime < path.roundTripTime
            if !isShort { sample(&transfer, at: now) }
            if transfer.received > 0 {
                path.recordSize(transfer.received + transfer.candidate.held, of: transfer.candidate.kind)
            }
            reachability.recordSign(at: now)
        case .unreachable:
            reachability.recordUnreachable(at: now)
            if reachability.isOffline { cap.reset() }
        case .cancelled, .failed: break
        }
    }

    /// Discards the measurements of the previous network.
    mutating func recordNetworkChange(at now: Double) {
        path.reset()
        cap.reset()
        trial = SharingTrial()
        waits = AnswerWaits()
        (measuredQuality, qualityTime) = (nil, -.infinity)
        reachability.recordNetworkChange(at: now)
    }

    // MARK: - Time

    /// Records the number of waiting transfers.
    mutating func setWaiting(_ waiting: Int, at now: Double) {
        (self.waiting, isSilent) = (waiting, cap.isSilent(at: now))
    }

    /// Evaluates the measurements. Returns whether to interrupt transfers, because the link collapsed.
    ///
    /// - Parameters:
    ///   - isSaturated: whether there is more to transfer than is under way.
    ///   - overdue: returns the number of transfers whose answers are late.
    mutating func advance(to now: Double, isSaturated: Bool, overdue: () -> Int) -> Bool {
        let roundTrip = path.roundTripTime
        cap.advance(to: now)
        path.advance(to: now, isSaturated: isSaturated, overdue: overdue, cap: cap.value)
        reachability.advance(to: now, isBusy: running > 0, patience: max(5, 10 * roundTrip))
        if trial.advance(
            to: now, isSettled: path.isShared && isSaturated && path.isSettled, rate: path.presentRate(at: now) ?? 0,
            delivered: path.delivered, hasLosses: path.isHeldUpByLosses, isLossy: path.areLossesRepeated,
            work: Double(waiting) * path.size(.thumbnail), roundTrip: roundTrip)
        {
            path.restart(sharing: false)
        }
        defer { judgeQuality(at: now) }
        return isSaturated && path.detectCollapse(at: now)
    }

    /// Judges the quality of the path by the time that a photo takes. The method judges only from time to time.
    private mutating func judgeQuality(at now: Double) {
        guard let rate = path.bandwidth.greatest else { return }
        let roundTrip = path.roundTripTime
        let time = path.size(.photo) / rate + 2 * roundTrip
        let judged: LinkQuality = time < 1 ? .good : time < 4 ? .fair : .poor
        guard judged != measuredQuality, now - qualityTime > max(2, 5 * roundTrip) else { return }
        (measuredQuality, qualityTime) = (judged, now)
    }
}

/// The maximum number of transfers that a host accepts at once.
///
/// The limit is halved when the host refuses requests, and rises again by one every 30 seconds.
struct HostCap {
    private(set) var value = HostPath.greatestCap
    /// Whether the limit is at its usual value.
    var isWhole: Bool { value == HostPath.greatestCap }
    private var changeTime = -Double.infinity
    /// The time until which the host wants no requests.
    private(set) var silenceEnd = -Double.infinity

    private static let interval = 30.0

    /// Records a refusal. Only one per round trip lowers the limit, because the host may refuse all running transfers.
    ///
    /// - Parameter silence: the number of seconds for which the host wants no requests.
    mutating func recordComplaint(at now: Double, roundTrip: Double, silence: Double) {
        silenceEnd = max(silenceEnd, now + silence)
        guard now - changeTime > roundTrip else { return }
        value = max(1, (value / 2).rounded(.down))
        changeTime = now
    }

    /// Restores the usual limit after a change of the network.
    mutating func reset() { value = HostPath.greatestCap }

    mutating func endSilence() { silenceEnd = -Double.infinity }

    /// Returns whether the host wants no requests now.
    func isSilent(at now: Double) -> Bool { now < silenceEnd }

    mutating func advance(to now: Double) {
        guard !isWhole, now - changeTime >= Self.interval else { return }
        value += 1
        changeTime = now
    }
}

/// Estimates the time until a server begins an answer. TCP computes its time-outs in the same way (RFC 6298).
struct AnswerWaits {
    private var mean: Double?
    private var deviation = 0.0

    mutating func add(_ wait: Double) {
        guard let mean else {
            (mean, deviation) = (wait, wait / 2)
            return
        }
        deviation += (abs(wait - mean) - deviation) / 4
        self.mean = mean + (wait - mean) / 8
    }

    /// The wait after which an answer is late; nil before the first answer.
    var bound: Double? { mean.map { $0 + 4 * deviation } }
}

/// Tracks whether a host can be reached. Schedules probes while the host cannot be reached.
struct Reachability {
    /// The time of the next probe and the wait after it. Nil while the host can be reached.
    private var probe: (time: Double, wait: Double)?
    private var failures = 0
    /// The time when the host last sent something, or when transfers began after a pause.
    private(set) var lastSign = 0.0

    private static let longestWait = 30.0

    var isOffline: Bool { probe != nil }
    /// Whether the last attempt to reach the host failed. After three failures the host counts as offline.
    var isMissed: Bool { isOffline || failures > 0 }
    /// The time of the next probe; nil while the host can be reached.
    var nextProbe: Double? { probe?.time }

    /// Records that the host sent a byte, accepted a connection or answered.
    mutating func recordSign(at now: Double) { (probe, failures, lastSign) = (nil, 0, now) }

    /// Records that a transfer starts while no other runs.
    mutating func recordBeginning(at now: Double) { lastSign = max(lastSign, now) }

    mutating func recordUnreachable(at now: Double) {
        failures += 1
        if failures >= 3 { goOffline(at: now) }
    }

    /// - Parameter patience: the seconds without a sign after which a host with running transfers counts as offline.
    mutating func advance(to now: Double, isBusy: Bool, patience: Double) {
        if isBusy, now - lastSign > patience { goOffline(at: now) }
    }

    /// Returns whether a probe may start now. If so, schedules the next probe.
    mutating func takeProbe(at now: Double) -> Bool {
        guard let (time, wait) = probe, now >= time else { return false }
        probe = (now + wait, min(2 * wait, Self.longestWait))
        return true
    }

    private mutating func goOffline(at now: Double) {
        if probe == nil { probe = (now + 1, 2) }
    }

    /// Makes the next probe due at once.
    mutating func recordNetworkChange(at now: Double) {
        if probe != nil { probe = (now, 1) }
    }
}

/// Finds out whether many connections to a host are faster than one shared connection.
///
/// A shared connection has already gained its speed, and the server sends the most important answer first. Where
/// packets get lost, however, each loss slows down all transfers. The governor sees losses, but not the rate that other
/// connections would reach. So this type tries a few other connections beside the shared connection, and compares the
/// rates. These connections carry two transfers each: see ``Admission/Connection/few``.
struct SharingTrial: Sendable {
    private enum State {
        /// All transfers share a connection. The values are the next trial's times, without and with repeated losses.
        case shared(next: Double, early: Double)
        /// Some transfers use connections of their own. The values are the start, the least rate that justifies leaving
        /// the shared connection, the bytes delivered when the trial had reached its speed, and the end.
        case trying(begin: Double, least: Double, deliveredAtSpeed: Double?, end: Double)
        /// No transfer uses the shared connection any more.
        case unshared
    }

    private var state = State.shared(next: 0, early: 0)
    private var pause = 60.0
    /// The number of running transfers that belong to the trial.
    private var tried = 0

    private static let width = 8
    /// The part of the earlier rate that justifies leaving the shared connection.
    private static let worthwhile = 1.15
    /// The same if packets get lost: less than 1, because the shared connection will become slower.
    private static let worthwhileWithLosses = 0.85
    /// The bytes of eight handshakes with certificates. A trial needs a link that carries them in a second.
    private static let handshakes = 48e3
    /// The least waiting work for a trial, in bytes: ten times what handshakes and first packets may waste.
    private static let leastWork = 10 * (handshakes + 8 * 14.6e3)

    var isUnshared: Bool { if case .unshared = state { true } else { false } }

    /// Whether the next transfer should join the trial, even beyond the window.
    var wantsAnother: Bool { if case .trying = state { tried < Self.width } else { false } }

    mutating func recordStart() { tried += 1 }
    mutating func recordEnd() { tried = max(0, tried - 1) }

    /// Records that the host refused requests. Returns whether all transfers should share a connection again.
    mutating func recordRefusal(at now: Double) -> Bool {
        guard isUnshared else { return false }
        state = .shared(next: now + pause, early: now + pause)
        return true
    }

    /// Evaluates the trial at a time. Returns whether to leave the shared connection now.
    ///
    /// - Parameters:
    ///   - isSettled: whether the shared connection is always in use and its rate is known.
    ///   - rate: the rate of the shared connection, in bytes per second.
    ///   - hasLosses: whether packets were lost without a queue.
    ///   - isLossy: whether packets are lost repeatedly. Losses may begin after a trial, so another trial follows soon.
    ///   - work: the number of bytes that wait.
    mutating func advance(
        to now: Double, isSettled: Bool, rate: Double, delivered: Double, hasLosses: Bool, isLossy: Bool, work: Double,
        roundTrip: Double
    ) -> Bool {
        switch state {
        case .shared(let next, let early):
            guard isSettled, now >= (isLossy ? early : next), rate > Self.handshakes, work > Self.leastWork else {
                return false
            }
            let begin = now + 4 * roundTrip
            state = .trying(
                begin: begin, least: (hasLosses ? Self.worthwhileWithLosses : Self.worthwhile) * rate,
                deliveredAtSpeed: nil, end: begin + max(4 * roundTrip, 0.5))
        case .trying(let begin, let least, nil, let end):
            if now >= begin { state = .trying(begin: now, least: least, deliveredAtSpeed: delivered, end: end) }
        case .trying(let begin, let least, let deliveredAtSpeed?, let end):
            guard now >= end, now > begin else { return false }
            if (delivered - deliveredAtSpeed) / (now - begin) > least {
                state = .unshared
                return true
            }
            state = .shared(next: now + pause, early: now + 1)
            pause = min(2 * pause, 3_600)
        case .unshared: break
        }
        return false
    }
}
