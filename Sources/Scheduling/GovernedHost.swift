import Model
import Numbers

/// A host that transfers run from, as the governor knows it: the way there, what it allows, and what is under way.
struct GovernedHost: Sendable {
    var link: HostPath
    var cap = HostCap()
    var reachability = Reachability()
    var trial = SharingTrial()
    /// Taken to be good as long as nothing is measured.
    private(set) var quality = LinkQuality.good
    private var isMeasured = false
    private var qualityTime = 0.0
    var running = 0
    /// Bytes asked for and not here.
    var underWay = 0.0
    /// When something urgent last held the others back.
    var lastHeldBack = -Double.infinity
    /// How long it takes until the answer of a thumbnail begins.
    var waits = AnswerWaits()
    /// How important that was which was started last, and not for the second time.
    var lastStarted = Importance.rest
    /// How many waited for it, when that was last looked at, and whether it did not want to be asked.
    var waiting = 0
    var isSilent = false

    init(_ capacity: Double?, isSecure: Bool) {
        link = HostPath(isSecure: isSecure)
        if let capacity { link.begin(with: capacity) }
    }

    /// How good the way there is; nil as long as nothing is measured.
    var measuredQuality: LinkQuality? { isMeasured ? quality : nil }

    /// How many thumbnails run at once, if there are enough: each starts as long as less than the window is under way.
    var width: Int {
        let window = link.window(cap: cap.value) / max(link.size(.thumbnail), 1)
        return Int(clamped: min(max(window.rounded(.up), 1), cap.value))
    }

    /// Whether nothing is under way, and nothing waits.
    var isIdle: Bool { running == 0 && waiting == 0 }

    /// Whether it could as well begin anew: it is idle, and nothing is to be held against it.
    var isForgettable: Bool { isIdle && !reachability.isOffline && cap.isWhole }

    /// Whether there is something to start as soon as there is room.
    var hasMoreToStart: Bool { waiting > 0 && !isSilent }

    /// When it is tried next, while it cannot be reached, or asked again, while it does not want to be.
    func nextTry(at now: Double) -> Double? {
        reachability.nextProbe ?? (cap.wantsSilence(at: now) ? cap.silenceEnd : nil)
    }

    // MARK: - Admission

    /// Files of this machine that are read at once.
    private static let localWidth = 8
    /// What the user waits for is tried at once though nobody was there a moment ago: he may have heard that the server is
    /// back. But no more of it than this.
    private static let urgentWidthOffline = 2

    /// Whether a file of this machine may be read.
    var hasRoomForLocal: Bool { running < Self.localWidth }

    /// Whether something may be tried though the host could not be reached: a probe, or what somebody waits for.
    mutating func admitsOffline(_ candidate: TransferCandidate, at now: Double) -> Bool {
        reachability.takeProbe(at: now) || (candidate.isUrgent && running < Self.urgentWidthOffline)
    }

    /// How a photo comes that the user looks at.
    ///
    /// A warm connection of a busy link has been taught by losses to be slow, and a large photo would grow with it by a
    /// packet a round trip. One that starts afresh doubles, and many of either kind do so at once. A shared one lets the
    /// server send first what matters most, and needs no handshake; it is left only where it was found to be no good, or
    /// where losses keep it so slow that all of that takes less time.
    func way(forUrgent candidate: TransferCandidate, at now: Double) -> Admission.Way {
        guard candidate.kind == .photo, let capacity = link.capacity else { return usualWay }
        let rest = link.size(.photo) - candidate.held
        guard isShared else {
            if isGoodForPieces { return inPieces(candidate) }
            return running > 0 && rest > capacity / 2 && capacity > Self.firstFlights ? .fresh : usualWay
        }
        guard link.wouldHoldUpOne, let rate = link.recentRate(at: now) else { return .any }
        // There will be more losses on the way, and each takes a part of its speed.
        return 2 * rest / rate > TransferPieces.time(of: rest, roundTrip: link.roundTripTime)
            ? Admission.Way(.unshared, inPieces: true) : .any
    }

    /// How anything else comes.
    func way(forOther candidate: TransferCandidate) -> Admission.Way {
        if candidate.kind == .photo, !isShared, link.capacity != nil, isGoodForPieces { return inPieces(candidate) }
        return usualWay
    }

    /// How something comes that is asked for once more; nil while there is no room, and where all share one connection: what
    /// the others bring over it tells the server what was lost.
    var wayForHanging: Admission.Way? {
        guard !isShared, !reachability.isOffline, !isSilent, Double(running) < cap.value else { return nil }
        // Of those that few share it might be given the one that it hangs on.
        return trial.isUnshared ? Admission.Way(.unshared) : .any
    }

    private var usualWay: Admission.Way { trial.isUnshared ? .few : .any }

    /// Those that few share are warm, where there are some.
    private func inPieces(_ candidate: TransferCandidate) -> Admission.Way {
        Admission.Way(trial.isUnshared ? .few : candidate.isSecure ? .unshared : .any, inPieces: true)
    }

    private var isShared: Bool { link.isShared && !trial.isUnshared }

    /// A link that two or three connections fill with the first that they send gains nothing by more of them, unless it loses
    /// packets. Nor does one whose other end is next door: there nobody has to wait for a connection to gather speed.
    private var isGoodForPieces: Bool {
        link.roundTripTime > Self.nextDoor && (link.widest > Self.worthPieces || link.losesPackets)
    }

    private static let nextDoor = 0.01
    private static let worthPieces = 49_152.0
    /// What two new connections send at once (RFC 6928). On a link that takes no more than that an old one is as good as one
    /// that has to be made.
    private static let firstFlights = 29_200.0

    /// What a transfer counts for: all that is to come of it; but of photos some should run side by side on a good link.
    func cost(_ transfer: RunningTransfer) -> Double {
        guard !transfer.isLeft else { return 0 }
        let rest = transfer.rest(expecting: link.size(transfer.candidate.kind))
        guard transfer.candidate.kind == .photo else { return rest }
        let sideBySide: Double =
            switch quality {
            case .good: 4
            case .fair: 2
            case .poor: 1
            }
        return min(rest, link.window(cap: cap.value) / sideBySide)
    }

    /// Whether nothing has come of it for so long that nothing of it is on the way any more: its packets were lost, and come again
    /// when nobody expects them. On a fast link that does not matter, and over one connection they come before all else.
    func hasLost(_ transfer: RunningTransfer, at now: Double) -> Bool {
        guard quality == .poor, !isShared else { return false }
        let usual = transfer.isAnswered ? link.silence(among: running) : waits.bound ?? 0
        return now - transfer.sign > max(3 * link.someTime, usual)
    }

    // MARK: - News

    /// Takes what was delivered since a transfer was last looked at for a measurement.
    mutating func sample(_ transfer: inout RunningTransfer, at now: Double) {
        link.sample(
            since: transfer.sampleTime, delivered: transfer.deliveredAtSample, isSaturated: transfer.isSaturated,
            at: now)
        transfer.sampleTime = now
        transfer.deliveredAtSample = link.delivered
    }

    /// Something begins where nothing was under way.
    mutating func noteBeginning(at now: Double) {
        reachability.noteBeginning(at: now)
        link.noteBeginning(at: now)
    }

    /// A transfer is over.
    mutating func noteEnd(of transfer: RunningTransfer, _ ending: TransferNews.Ending, at now: Double) {
        running -= 1
        if transfer.isTrial { trial.noteEndOfTried() }
        switch ending {
        case .completed:
            var transfer = transfer
            // What was measured as it went ends a moment later, and the few packets of a moment are no measure.
            let isMeasured = transfer.candidate.kind == .photo && now - transfer.sampleTime < link.roundTripTime
            if !isMeasured { sample(&transfer, at: now) }
            if transfer.received > 0 {
                link.noteSize(transfer.received + transfer.candidate.held, of: transfer.candidate.kind)
            }
            reachability.noteSign(at: now)
        case .unreachable:
            reachability.noteUnreachable(at: now)
            if reachability.isOffline { cap.forgive() }
        case .cancelled, .failed: break
        }
    }

    /// The machine has come to be on a network, or on another one. What was found out is of the way that there was before.
    mutating func noteNetwork(at now: Double) {
        link.forget()
        cap.forgive()
        trial = SharingTrial()
        waits = AnswerWaits()
        (quality, qualityTime, isMeasured) = (.good, 0, false)
        reachability.noteNetwork(at: now)
    }

    // MARK: - Time

    /// Judges what has been learned, once a round trip. Returns whether the link carries so much less than it did that what
    /// is under way was asked for in another world.
    ///
    /// - Parameters:
    ///   - isSaturated: whether there has been enough to do.
    ///   - overdue: how many answers are late and not here yet.
    mutating func advance(to now: Double, isSaturated: Bool, overdue: () -> Int) -> Bool {
        let roundTrip = link.roundTripTime
        cap.advance(to: now)
        link.advance(to: now, isSaturated: isSaturated, overdue: overdue, cap: cap.value)
        reachability.advance(to: now, isBusy: running > 0, patience: max(5, 10 * roundTrip))
        let isSettled = link.isShared && isSaturated && link.isSettled
        if trial.advance(
            to: now, isSettled: isSettled, rate: link.presentRate(at: now) ?? 0, delivered: link.delivered,
            hasLosses: link.isHeldUpByLosses, isLossy: link.isLossy, work: Double(waiting) * link.size(.thumbnail),
            roundTrip: roundTrip)
        {
            link.startAgain(sharing: false)
        }
        defer { judgeQuality(at: now) }
        // Never judged while something urgent holds the others back, nor right after.
        return isSaturated && now - lastHeldBack > 4 * max(2 * roundTrip, 0.5) && link.noteFall(at: now)
    }

    /// Judged by what a user feels: how long a photo takes. Not changed too often, or what runs would be changed each time.
    private mutating func judgeQuality(at now: Double) {
        guard let rate = link.bandwidth.greatest else { return }
        let roundTrip = link.roundTripTime
        let time = link.size(.photo) / rate + 2 * roundTrip
        let judged: LinkQuality = time < 1 ? .good : time < 4 ? .fair : .poor
        // The first measurement counts at once.
        guard !isMeasured || (judged != quality && now - qualityTime > max(2, 5 * roundTrip)) else { return }
        (quality, qualityTime, isMeasured) = (judged, now, true)
    }
}

/// How many transfers a host puts up with at once.
///
/// It is halved when the host complains, and creeps up again while it does not. Where the host says for how long it does not
/// want to be asked at all, it is not.
struct HostCap {
    private(set) var value = HostPath.greatestCap
    /// Whether the host has not complained, or not for long.
    var isWhole: Bool { value == HostPath.greatestCap }
    private var changeTime = -Double.infinity
    /// Until when it does not want to be asked.
    private(set) var silenceEnd = -Double.infinity

    private static let clean = 30.0

    /// The host complained. Of what ran at once all may come to hear of it, so only one complaint a round trip counts.
    ///
    /// - Parameter silence: seconds for which it does not want to be asked.
    mutating func noteRefusal(at now: Double, roundTrip: Double, silence: Double) {
        silenceEnd = max(silenceEnd, now + silence)
        guard now - changeTime > roundTrip else { return }
        value = max(1, (value / 2).rounded(.down))
        changeTime = now
    }

    /// It was not the host that complained: there was none, or there was no network.
    mutating func forgive() {
        value = HostPath.greatestCap
    }

    /// The user wants it asked all the same.
    mutating func endSilence() { silenceEnd = -Double.infinity }

    /// Whether it has asked to be left alone.
    func wantsSilence(at now: Double) -> Bool { now < silenceEnd }

    mutating func advance(to now: Double) {
        guard value < HostPath.greatestCap, now - changeTime >= Self.clean else { return }
        value += 1
        changeTime = now
    }
}

/// How long a server takes to begin its answers, and how much that differs.
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

    /// What takes longer than that is late, as TCP reckons it (RFC 6298): where some answers are there at once and others have to
    /// be made, it is long. Nil as long as nothing is known.
    var bound: Double? { mean.map { $0 + 4 * deviation } }
}
