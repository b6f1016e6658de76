import Model
import Numbers

/// Lets as many transfers run as the link can use, and no more: found out from what comes, and when.
///
/// For each host it keeps a window of bytes under way (``HostPath``); a transfer may start while less than that has been
/// asked for and not come. What the user is waiting for starts at once, and everything else makes room: nothing new is
/// started until the little that is left of it cannot be hurried any more, and, once, so much of what is running is
/// interrupted that the rest is through within a round trip.
public struct AdaptiveGovernor: Governor {
    private var remembered: HostHistory
    private(set) var hosts: [String: GovernedHost] = [:]
    private var running = RunningTransfers()
    /// Which of them the user waits for. Each admission asks for these few, and they are not to be looked for among all.
    private var urgent: Set<Int> = []
    /// Something that is looked at has started, and nothing was interrupted for it yet.
    private var isRoomWanted = false
    /// Hosts that let no more run at once, where the user waits for something that could not be started for that reason.
    private var crowded: Set<String> = []

    /// A governor that knows what an earlier one has found out.
    ///
    /// - Parameter width: how many may run at once, of all hosts, where there are file descriptors for no more.
    public init(history: HostHistory = HostHistory(), width: Int = AdaptiveGovernor.greatestWidth) {
        remembered = history
        self.width = min(max(1, width), Self.greatestWidth)
    }

    /// What was known, and what has been found out since.
    public var history: HostHistory {
        var history = remembered
        for (name, host) in hosts.sorted(by: { $0.value.reachability.lastSign < $1.value.reachability.lastSign }) {
            Self.keep(host, name, in: &history)
        }
        return history
    }

    private static func keep(_ host: GovernedHost, _ name: String, in history: inout HostHistory) {
        guard !name.isEmpty, let capacity = host.link.capacity else { return }
        history[name] = capacity.rounded(.down)
    }

    /// So many run at once, of all hosts: each takes a descriptor, and a list may name a host for every picture.
    public static let greatestWidth = 128
    private let width: Int

    /// Hosts are looked at time and again, and a list may name very many.
    private static let mostHosts = 256
    /// With those that could not be reached it may be so many. That is forgotten sooner than that they are looked at.
    private static let mostGone = 1_024

    /// Forgets those that have had nothing to do for longest, of whom there is nothing to be remembered but what they carry.
    private mutating func forgetIdleHosts() {
        guard hosts.count > Self.mostHosts else { return }
        let areMany = hosts.count > Self.mostGone
        let idle = hosts.filter { areMany ? $0.value.isIdle : $0.value.isForgettable }
            .sorted { $0.value.reachability.lastSign < $1.value.reachability.lastSign }
        for (name, host) in idle.prefix(hosts.count - Self.mostHosts * 3 / 4) {
            Self.keep(host, name, in: &remembered)
            hosts[name] = nil
        }
    }

    private func newHost(_ candidate: TransferCandidate) -> GovernedHost {
        GovernedHost(remembered[candidate.host], isSecure: candidate.isSecure)
    }

    /// Starts it if there is room, and if nothing is waited for that it would be in the way of.
    public mutating func admit(_ candidate: TransferCandidate, at now: Double) -> Admission {
        var host = hosts[candidate.host] ?? newHost(candidate)
        guard !candidate.isLocal else { return host.hasRoomForLocal ? .now(.any) : .hostIsBusy }
        if host.reachability.isOffline {
            // Only of a probe there is something to keep: who is asked about need not be known.
            defer { hosts[candidate.host] = host }
            return host.admitsOffline(candidate, at: now) ? .now(.any) : .hostIsBusy
        }
        if Double(host.running) >= host.cap.value {
            if candidate.isUrgent { crowded.insert(candidate.host) }
            return .hostIsBusy
        }
        if candidate.isUrgent { return .now(host.way(forUrgent: candidate, at: now)) }
        if host.cap.wantsSilence(at: now) { return .hostIsBusy }
        if areOthersHeldBack || running.count >= width { return .linkIsBusy }
        // Thumbnails of others may start all the same.
        if candidate.kind == .photo, isAnythingUrgent || (host.quality == .poor && host.running > 0) {
            return .hostIsBusy
        }
        if host.trial.wantsAnother { return .now(.few) }
        let window = host.link.window(cap: host.cap.value)
        guard host.running == 0 || host.underWay < window else { return .hostIsBusy }
        return .now(host.way(forOther: candidate))
    }

    /// What is urgent and uses the link. What is tried of a host that cannot be reached does not: nobody makes room for it.
    private var urgentTransfers: [RunningTransfer] {
        urgent.sorted().compactMap { running[$0] }.filter { hosts[$0.candidate.host]?.reachability.isOffline != true }
    }

    /// Whether there is anything of the kind.
    private var isAnythingUrgent: Bool { !urgentTransfers.isEmpty }

    /// Whether nothing may start but what is urgent, for the sake of what is.
    var areOthersHeldBack: Bool {
        guard !urgent.isEmpty else { return false }
        var rest: [String: Double] = [:]
        for transfer in urgentTransfers {
            rest[transfer.candidate.host, default: 0] += self.rest(of: transfer)
        }
        return rest.contains { name, rest in
            guard let host = hosts[name], let capacity = host.link.capacity else { return false }
            return host.quality == .poor || host.link.losesPackets || rest > capacity / 2
        }
    }

    private func rest(of transfer: RunningTransfer) -> Double {
        let size = hosts[transfer.candidate.host]?.link.size(transfer.candidate.kind)
        return transfer.rest(expecting: size ?? transfer.candidate.kind.usualSize)
    }

    /// Counts it among what runs.
    public mutating func noteStart(
        of transfer: Int, _ candidate: TransferCandidate, over way: Admission.Way, at now: Double
    ) {
        var host = hosts[candidate.host] ?? newHost(candidate)
        if host.running == 0 { host.noteBeginning(at: now) }
        host.running += 1
        if !candidate.isAgain { host.lastStarted = candidate.importance }
        let isTrial = way.connection == .few && host.trial.wantsAnother
        if isTrial { host.trial.noteTried() }
        let new = RunningTransfer(
            candidate: candidate, isTrial: isTrial, isRepeated: candidate.isAgain, sign: now,
            asked: way.isInPieces ? 0 : nil, askTime: now, sampleTime: now, deliveredAtSample: host.link.delivered)
        running[transfer] = new
        host.underWay += host.cost(new)
        hosts[candidate.host] = host
        forgetIdleHosts()
        if new.isUrgent { urgent.insert(transfer) }
        if new.isLookedAt { isRoomWanted = true }
    }

    /// Facts about the host with the most transfers, among those that can be reached. Files of this machine come
    /// over no network.
    public var report: GovernorReport {
        var report = GovernorReport()
        report.missed = Set(hosts.filter(\.value.reachability.isMissed).keys)
        report.unreachable = Set(hosts.filter(\.value.reachability.isOffline).keys)
        report.silences = hosts.mapValues(\.cap.silenceEnd).filter { $0.value > 0 }
        let known = hosts.filter { !$0.key.isEmpty }.values
        let reached = known.filter { !$0.reachability.isMissed }
        let busiest = (reached.isEmpty ? Array(known) : reached)
            .max { ($0.running, $0.link.delivered) < ($1.running, $1.link.delivered) }
        guard let host = busiest else { return report }
        report.limit = Int(clamped: host.cap.value)
        // Measurements of a host that is gone say nothing about the network now.
        guard !host.reachability.isMissed else { return report }
        report.quality = host.measuredQuality
        report.window = host.link.window(cap: host.cap.value)
        report.width = host.width
        report.bandwidth = host.link.bandwidth.greatest
        report.roundTrip = host.link.roundTrip.least
        return report
    }
}

/// What happens to transfers, and what is learned from it.
extension AdaptiveGovernor {
    /// Learns from what happens.
    public mutating func note(_ news: TransferNews, of number: Int, at now: Double) {
        guard var transfer = running[number], var host = hosts[transfer.candidate.host] else { return }
        defer { hosts[transfer.candidate.host] = host }
        switch news {
        case .connected(let seconds):
            host.link.noteConnect(seconds, at: now)
            // What it takes to connect says nothing of what comes then.
            (transfer.sampleTime, transfer.deliveredAtSample) = (now, host.link.delivered)
            // A secure connection takes another round trip before anything is asked for.
            let askTime = now + (transfer.candidate.isSecure ? host.link.roundTripTime : 0)
            (transfer.askTime, transfer.sign, transfer.isAnswered) = (askTime, askTime, false)
            host.reachability.noteSign(at: now)
        case .answered(let wait, let length, let isShared):
            host.link.noteAnswer(wait, of: transfer.candidate.kind, isShared: isShared, at: now)
            host.reachability.noteSign(at: now)
            if transfer.candidate.kind == .thumbnail { host.waits.add(wait) }
            transfer.length = length ?? transfer.length
            transfer.askTime = nil
            (transfer.sign, transfer.isAnswered) = (now, true)
        case .askedAgain:
            transfer.askTime = now
            (transfer.sign, transfer.isAnswered) = (now, false)
        case .received(let bytes):
            guard bytes > transfer.received else { return }
            host.link.noteDelivered(bytes - transfer.received, at: now)
            host.reachability.noteSign(at: now)
            let isLong = transfer.candidate.kind == .photo
            if isLong, transfer.isAnswered { host.link.noteSilence(from: transfer.sign, to: now) }
            (transfer.received, transfer.sign) = (bytes, now)
            // A long one is measured as it goes.
            if isLong, now - transfer.sampleTime > max(2 * host.link.roundTripTime, 0.25) {
                host.sample(&transfer, at: now)
            }
        case .asked(let bytes): transfer.asked = bytes
        case .packets(let count, let disordered, let roundTrip):
            if count > 0 { host.link.notePackets(areOrdered: disordered == 0, roundTrip: roundTrip) }
        case .importance(let importance):
            let wasLookedAt = transfer.isLookedAt
            transfer.candidate.importance = importance
            if transfer.isUrgent { urgent.insert(number) } else { urgent.remove(number) }
            if transfer.isLookedAt, !wasLookedAt { isRoomWanted = true }
        case .ended(let ending):
            host.noteEnd(of: transfer, ending, at: now)
            running[number] = nil
            urgent.remove(number)
            return
        }
        running[number] = transfer
    }

    /// Lets fewer of that host run for a while, and none if it says so.
    public mutating func noteComplaint(of host: String, silence: Double, at now: Double) {
        let roundTrip = hosts[host]?.link.roundTripTime ?? 0.2
        hosts[host]?.cap.noteRefusal(at: now, roundTrip: roundTrip, silence: silence)
        if hosts[host]?.trial.noteRefusal(at: now) == true { hosts[host]?.link.startAgain(sharing: true) }
    }

    /// Asks it as any other, until it complains again.
    public mutating func endSilence(of host: String) { hosts[host]?.cap.endSilence() }

    /// Tries at once what could not be reached, and begins to measure anew: what is known is of the network before.
    public mutating func noteNetwork(at now: Double) {
        for name in hosts.keys { hosts[name]?.noteNetwork(at: now) }
        for (number, transfer) in running {
            running[number]?.askTime = nil
            running[number]?.sampleTime = now
            running[number]?.sign = now
            running[number]?.deliveredAtSample = hosts[transfer.candidate.host]?.link.delivered ?? 0
        }
    }
}

/// What time brings: judgements, and room for what is waited for.
extension AdaptiveGovernor {
    /// Judges what has been learned, once a round trip.
    public mutating func advance(to now: Double, waiting: (String) -> Int) -> [Int] {
        let (areHeldBack, isUrgent) = (areOthersHeldBack, isAnythingUrgent)
        var fallen: [String] = []
        var unsaturated: [Int] = []
        for name in hosts.keys {
            guard var host = hosts[name] else { continue }
            if isUrgent { host.lastHeldBack = now }
            host.waiting = waiting(name)
            host.isSilent = host.cap.wantsSilence(at: now)
            let isSaturated =
                (host.hasMoreToStart && !areHeldBack && host.running > 0) || isSaturatedByPieces(name, host)
            let wasUnshared = host.trial.isUnshared
            let hasFallen = host.advance(to: now, isSaturated: isSaturated) { [running, link = host.link] in
                running.count { _, transfer in
                    transfer.candidate.host == name && !transfer.isLeft
                        && transfer.askTime.map { link.isLate(now - $0) } ?? false
                }
            }
            if hasFallen { fallen.append(name) }
            if host.trial.isUnshared, !wasUnshared { leaveShared(name) }
            host.underWay = 0
            // Most hosts have nothing under way.
            for (number, transfer) in running where host.running > 0 && transfer.candidate.host == name {
                host.underWay += host.cost(transfer)
                let isPieces = transfer.asked != nil && transfer.isUrgent
                if (!host.hasMoreToStart || areHeldBack) && !isPieces || hasFallen { unsaturated.append(number) }
            }
            hosts[name] = host
        }
        for number in unsaturated { running[number]?.isSaturated = false }
        return makeRoom(at: now) + fallen.sorted().flatMap { shed($0) } + makePlace()
    }

    /// Where a host lets no more run, a photo for later gives its place to what the user waits for. It would take as long as it
    /// takes, and what has come of it is kept. A thumbnail is sooner through than it is begun anew.
    private mutating func makePlace() -> [Int] {
        defer { crowded = [] }
        return crowded.sorted().compactMap { name in
            let ofHost = running.filter { $0.transfer.candidate.host == name }
            // What was interrupted has its place until it has ended.
            guard let host = hosts[name], Double(host.running) >= host.cap.value,
                !ofHost.contains(where: \.transfer.isGivenUp),
                let last = ofHost.filter({ $0.transfer.candidate.kind == .photo && isInterruptible($0.transfer) })
                    .min(by: { $0.transfer.candidate.importance < $1.transfer.candidate.importance })
            else { return nil }
            running[last.number]?.isGivenUp = true
            return last.number
        }
    }

    private mutating func leaveShared(_ name: String) {
        for (number, transfer) in running where transfer.candidate.host == name && !transfer.isTrial {
            running[number]?.isLeft = true
        }
    }

    /// A quarter of a round trip, as long as anything runs; and as long as nothing does, when a host that something waits for
    /// is tried next, or asked again.
    public func pace(at now: Double, waiting: (String) -> Int) -> Double? {
        guard !running.isEmpty else {
            return hosts.compactMap { waiting($0.key) > 0 ? $0.value.nextTry(at: now) : nil }.min()
                .map { max($0 - now, 0.02) }
        }
        let roundTrip = hosts.values.filter { $0.running > 0 }.map(\.link.roundTripTime).min() ?? 0.2
        return min(max(roundTrip / 4, 0.02), 0.25)
    }

    /// Once for each urgent arrival, and not at every look: what was interrupted would be begun and interrupted again.
    private mutating func makeRoom(at now: Double) -> [Int] {
        guard isRoomWanted, let lookedAt = urgentTransfers.first(where: \.isLookedAt),
            let host = hosts[lookedAt.candidate.host], let rate = host.link.bandwidth.greatest
        else { return [] }
        isRoomWanted = false
        let small = max(rate * host.link.roundTripTime / 2, host.link.isShared ? 0 : Self.firstFlight)
        // What is kept of a photo is not lost. It is in the way for as long as it runs: a connection that has just begun
        // beside others that are fast loses packets to them, and is slow from then on. And what has been lost on a slow line
        // is sent again when nobody expects it.
        let inTheWay = running.filter { _, other in
            guard isInterruptible(other), other.asked == nil else { return false }
            let isLong = other.candidate.kind == .photo && rest(of: other) >= small
            return isLong || hosts[other.candidate.host]?.hasLost(other, at: now) == true
        }.map(\.number)
        return inTheWay
            + largest(within: rate * max(host.link.roundTripTime, 0.25), keeping: small) { !inTheWay.contains($0) }
    }

    /// Over a connection of its own a server sends so many bytes at once (RFC 6928), as soon as it is asked: whoever takes that
    /// back has them on the way all the same, and throws them away.
    private static let firstFlight = 14_600.0

    /// The link carries much less than what was asked of it in better times. All of that would have to come through before
    /// anything that is wanted from now on.
    private func shed(_ name: String) -> [Int] {
        guard let link = hosts[name]?.link, let rate = link.bandwidth.greatest else { return [] }
        let interrupted = largest(within: rate * max(link.roundTripTime, 0.5), keeping: 0) {
            running[$0]?.candidate.host == name
        }
        // Never all of them: to begin the last one again would be no gain.
        return interrupted.count == hosts[name]?.running ? interrupted.dropLast() : interrupted
    }

    private func isInterruptible(_ transfer: RunningTransfer) -> Bool {
        !transfer.candidate.isUrgent && !transfer.candidate.isLocal
    }

    /// What has to be interrupted so that the rest fits into so many bytes: the least important first, of those the largest.
    ///
    /// - Parameter small: with so little to come it is sooner through than another is begun.
    private func largest(within room: Double, keeping small: Double, of isMeant: (Int) -> Bool) -> [Int] {
        let others = running.filter { isInterruptible($1) && isMeant($0) && $1.asked == nil }
            .map { (number: $0, importance: $1.candidate.importance, rest: rest(of: $1)) }
            .sorted { ($0.importance.rawValue, -$0.rest, $0.number) < ($1.importance.rawValue, -$1.rest, $1.number) }
        var left = others.reduce(0) { $0 + $1.rest }
        var interrupted: [Int] = []
        for other in others where left > room && other.rest >= small {
            left -= other.rest
            interrupted.append(other.number)
        }
        return interrupted
    }
}

/// What comes in pieces.
extension AdaptiveGovernor {
    /// Of what the user looks at as much as fits and is not taken up by others: those have to come through first, and what is
    /// asked for too early only fills a queue, which drops it. What is for later waits meanwhile.
    public func pieces(of number: Int) -> TransferPieces {
        guard let transfer = running[number], let host = hosts[transfer.candidate.host] else { return .unlimited }
        let window = host.link.window(cap: host.cap.value)
        guard transfer.isUrgent else {
            return TransferPieces(window: isAnythingUrgent ? 0 : host.cost(transfer), of: window)
        }
        let others = running.lazy.filter { $0 != number && $1.candidate.host == transfer.candidate.host }
            .reduce(0) { $0 + underWay($1.transfer) }
        return TransferPieces(window: max(window - others, min(window, Self.leastWindow)), of: window)
    }

    /// So much of what is looked at is asked for whatever else is under way: it begins at once.
    private static let leastWindow = 32_768.0

    /// Bytes of it that were asked for and are not here.
    private func underWay(_ transfer: RunningTransfer) -> Double {
        transfer.asked.map { max($0 - transfer.received, 0) } ?? rest(of: transfer)
    }

    /// Whether something urgent from that host comes in pieces, and there is more of it to ask for than may be by now: then
    /// what comes says what the link can carry, though nothing else is started.
    private func isSaturatedByPieces(_ name: String, _ host: GovernedHost) -> Bool {
        urgent.contains { number in
            guard let transfer = running[number], transfer.candidate.host == name, transfer.asked != nil else {
                return false
            }
            return rest(of: transfer) > host.link.window(cap: host.cap.value)
        }
    }
}

/// What hangs when nothing else of its importance is left to do.
extension AdaptiveGovernor {
    /// With so few under way the link has room for one of them once more.
    private static let few = 6
    /// What takes no longer than that does not hang, however fast the others were.
    private static let soon = 0.05

    /// Thumbnails that nothing has come of for longer than a lost packet that is missed takes. The last one of an answer is not
    /// missed: the server waits for its timer, and waits twice as long when that packet is lost as well. As long as there
    /// is other work nobody waits for it; at the end everybody does, and over another connection it is here sooner. The
    /// same holds for the last of those that are looked at, while others are fetched that nobody looks at.
    public mutating func takeHanging(at now: Double) -> [Int: Admission.Way] {
        var ways: [Int: Admission.Way] = [:]
        var taken: [String: Int] = [:]
        for (number, time, way) in hangTimes.sorted(by: { ($0.time, $0.number) < ($1.time, $1.number) })
        where time <= now {
            guard let name = running[number]?.candidate.host, let host = hosts[name],
                Double(host.running + taken[name, default: 0]) < host.cap.value, hasRoomForMore(host)
            else { continue }
            taken[name, default: 0] += 1
            running[number]?.isRepeated = true
            ways[number] = way
        }
        return ways
    }

    /// Where a queue is in the way, what is asked for once more comes at its end: later than what it is to replace, as a rule, and
    /// so does everything else that is asked for.
    private func hasRoomForMore(_ host: GovernedHost) -> Bool {
        host.underWay < host.link.window(cap: host.cap.value)
    }

    /// Until the first of them has not been heard of for long enough.
    public func patience(at now: Double) -> Double? {
        hangTimes.map(\.time).min().map { max($0 - now, 0.02) }
    }

    /// From when on each hangs that could be asked for once more, if nothing comes of it before, and over what way that is done.
    private var hangTimes: [(number: Int, time: Double, way: Admission.Way)] {
        guard let greatest = running.lazy.map(\.transfer.candidate.importance).max() else { return [] }
        let last = running.filter { $0.transfer.candidate.importance == greatest }
        guard last.count <= Self.few else { return [] }
        return last.compactMap { number, transfer in
            // What is less important is begun when nothing else waits for that host. On a slow link that has to make do: there
            // what is asked for twice is in the way of everything else for too long.
            guard let host = hosts[transfer.candidate.host],
                host.waiting == 0 || (host.lastStarted < greatest && host.quality != .poor),
                let way = host.wayForHanging, let time = hangTime(of: transfer, host)
            else { return nil }
            return (number, time, way)
        }
    }

    private func hangTime(of transfer: RunningTransfer, _ host: GovernedHost) -> Double? {
        guard transfer.candidate.kind == .thumbnail, !transfer.isRepeated, !transfer.isLeft, !transfer.candidate.isLocal
        else { return nil }
        // A server may take its time to answer, and what that is only those before tell.
        let patience = transfer.isAnswered ? host.link.silence(among: host.running) : host.waits.bound
        return patience.map { transfer.sign + max($0, Self.soon) }
    }
}
