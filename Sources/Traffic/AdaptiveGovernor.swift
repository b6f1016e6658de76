import Model

/// Lets as many transfers run as the link can use, and no more: found out from what comes, and when.
///
/// For each host it keeps a window of bytes under way (``HostLink``); a transfer may start while less than that has been
/// asked for and not come. What the user is waiting for starts at once, and everything else makes room: nothing new is
/// started until the little that is left of it cannot be hurried any more, and, once, so much of what is running is
/// interrupted that the rest is through within a round trip.
public struct AdaptiveGovernor: Governor {
    private struct Host: Sendable {
        var link = HostLink()
        var cap = HostCap()
        var reach = HostReach()
        var trial = SharingTrial()
        var quality = LinkQuality.good
        var qualityTime = 0.0
        var running = 0
        /// Bytes asked for and not here.
        var underWay = 0.0
        /// When something urgent last held the others back.
        var lastHeldBack = -Double.infinity

        init(_ capacity: Double?) {
            if let capacity { link.begin(with: capacity) }
        }
    }

    private let remembered: HostHistory
    private var hosts: [String: Host] = [:]
    private var running: [Int: RunningTransfer] = [:]
    /// Something urgent has started, and nothing was interrupted for it yet.
    private var isRoomWanted = false

    /// A governor that knows what an earlier one has found out.
    public init(history: HostHistory = HostHistory()) {
        remembered = history
    }

    /// What was known, and what has been found out since.
    public var history: HostHistory {
        var history = remembered
        for (name, host) in hosts where !name.isEmpty {
            guard let capacity = host.link.capacity else { continue }
            history[name] = capacity.rounded(.down)
        }
        return history
    }

    // MARK: - Admission

    /// Starts it if there is room, and if nothing is waited for that it would be in the way of.
    public mutating func admit(_ candidate: TransferCandidate, at now: Double) -> Admission {
        var host = hosts[candidate.host] ?? Host(remembered[candidate.host])
        defer { hosts[candidate.host] = host }
        guard !candidate.isLocal else { return host.running < Self.localWidth ? .now(.any) : .hostIsBusy }
        if host.reach.isOffline { return host.reach.takeProbe(at: now) ? .now(.any) : .hostIsBusy }
        if Double(host.running) >= host.cap.value { return .hostIsBusy }
        if candidate.isUrgent { return .now(connection(forUrgent: candidate, host)) }
        if isHeldBack(by: urgentRest) { return .linkIsBusy }
        if candidate.kind == .photo, hasUrgent || (host.quality == .poor && host.running > 0) { return .linkIsBusy }
        if host.trial.wantsAnother { return .now(.unshared) }
        let window = host.link.window(cap: host.cap.value)
        guard host.running == 0 || host.underWay < window else { return .hostIsBusy }
        return .now(host.trial.isUnshared ? .unshared : .any)
    }

    /// A warm connection of a busy link has been taught by losses to be slow, and a large photo would grow with it by a
    /// packet a round trip. One that starts afresh doubles. A shared one lets the server send first what matters most, and
    /// needs no handshake; it is left only where it was found to be no good.
    private func connection(forUrgent candidate: TransferCandidate, _ host: Host) -> Admission.Connection {
        guard candidate.kind == .photo, host.running > 0, let capacity = host.link.capacity,
            !host.link.isShared || host.trial.isUnshared
        else { return .any }
        return host.link.size(.photo) - candidate.held > capacity / 2 ? .fresh : .any
    }

    /// Files of this machine that are read at once.
    private static let localWidth = 8

    private var hasUrgent: Bool { running.values.contains { $0.candidate.isUrgent && !$0.candidate.isLocal } }

    /// Bytes of what is urgent that are still to come, by host.
    private var urgentRest: [String: Double] {
        var rest: [String: Double] = [:]
        for transfer in running.values where transfer.candidate.isUrgent && !transfer.candidate.isLocal {
            let host = transfer.candidate.host
            rest[host, default: 0] += self.rest(of: transfer)
        }
        return rest
    }

    /// Whether nothing else may start meanwhile.
    private func isHeldBack(by urgent: [String: Double]) -> Bool {
        urgent.contains { name, rest in
            guard let host = hosts[name], let capacity = host.link.capacity else { return false }
            return host.quality == .poor || rest > capacity / 2
        }
    }

    private func rest(of transfer: RunningTransfer) -> Double {
        let size = hosts[transfer.candidate.host]?.link.size(transfer.candidate.kind)
        return transfer.rest(expecting: size ?? transfer.candidate.kind.usualSize)
    }

    /// Counts it among what runs.
    public mutating func noteStart(
        of transfer: Int, _ candidate: TransferCandidate, over connection: Admission.Connection, at now: Double
    ) {
        var host = hosts[candidate.host] ?? Host(remembered[candidate.host])
        if host.running == 0 { host.reach.noteBeginning(at: now) }
        host.running += 1
        let isTrial = connection == .unshared && host.trial.wantsAnother
        if isTrial { host.trial.noteTried() }
        let new = RunningTransfer(
            candidate: candidate, isTrial: isTrial, askTime: now, sampleTime: now,
            deliveredAtSample: host.link.delivered)
        running[transfer] = new
        host.underWay += cost(new, host)
        hosts[candidate.host] = host
        if candidate.importance >= .lookedAt, !candidate.isLocal { isRoomWanted = true }
    }

    /// What a transfer counts for: all that is to come of it; but of photos some should run side by side on a good link.
    private func cost(_ transfer: RunningTransfer, _ host: Host) -> Double {
        let rest = transfer.rest(expecting: host.link.size(transfer.candidate.kind))
        guard transfer.candidate.kind == .photo else { return rest }
        let sideBySide: Double =
            switch host.quality {
            case .good: 4
            case .fair: 2
            case .poor, .offline: 1
            }
        return min(rest, host.link.window(cap: host.cap.value) / sideBySide)
    }

    // MARK: - News

    /// Learns from what happens.
    public mutating func note(_ news: TransferNews, of number: Int, at now: Double) {
        guard var transfer = running[number], var host = hosts[transfer.candidate.host] else { return }
        switch news {
        case .connected(let seconds):
            host.link.noteConnect(seconds, at: now)
            // What it takes to connect says nothing of what comes then.
            (transfer.sampleTime, transfer.deliveredAtSample) = (now, host.link.delivered)
            // A secure connection takes another round trip before anything is asked for.
            transfer.askTime = now + (transfer.candidate.isSecure ? host.link.roundTripTime : 0)
            host.reach.noteSign(at: now)
        case .answered(let wait, let length, let isShared):
            host.link.noteAnswer(wait, isShared: isShared, at: now)
            host.reach.noteSign(at: now)
            transfer.length = length ?? transfer.length
            transfer.askTime = nil
        case .received(let bytes):
            guard bytes > transfer.received else { return }
            host.link.noteDelivered(bytes - transfer.received)
            host.reach.noteSign(at: now)
            transfer.received = bytes
            // A long one is measured as it goes.
            if transfer.candidate.kind == .photo, now - transfer.sampleTime > max(2 * host.link.roundTripTime, 0.25) {
                Self.sample(&transfer, &host, at: now)
            }
        case .importance(let importance):
            if importance >= .lookedAt, transfer.candidate.importance < .lookedAt, !transfer.candidate.isLocal {
                isRoomWanted = true
            }
            transfer.candidate.importance = importance
        case .ended(let ending):
            end(transfer, &host, ending, at: now)
            running[number] = nil
            hosts[transfer.candidate.host] = host
            return
        }
        running[number] = transfer
        hosts[transfer.candidate.host] = host
    }

    private static func sample(_ transfer: inout RunningTransfer, _ host: inout Host, at now: Double) {
        host.link.sample(
            since: transfer.sampleTime, delivered: transfer.deliveredAtSample, isSaturated: transfer.isSaturated,
            at: now)
        transfer.sampleTime = now
        transfer.deliveredAtSample = host.link.delivered
    }

    private func end(
        _ transfer: RunningTransfer, _ host: inout Host, _ ending: TransferNews.Ending, at now: Double
    ) {
        host.running -= 1
        if transfer.isTrial { host.trial.noteEndOfTried() }
        var transfer = transfer
        switch ending {
        case .completed:
            Self.sample(&transfer, &host, at: now)
            if transfer.received > 0 {
                host.link.noteSize(transfer.received + transfer.candidate.held, of: transfer.candidate.kind)
            }
            host.reach.noteSign(at: now)
        case .unreachable:
            host.reach.noteUnreachable(at: now)
            if host.reach.isOffline { host.cap.forgive() }
        case .cancelled, .failed: break
        }
    }

    /// Lets fewer of that host run for a while.
    public mutating func noteComplaint(of host: String, at now: Double) {
        let roundTrip = hosts[host]?.link.roundTripTime ?? 0.2
        hosts[host]?.cap.noteRefusal(at: now, roundTrip: roundTrip)
        hosts[host]?.trial.noteRefusal(at: now)
    }

    /// Tries at once what could not be reached.
    public mutating func noteNetwork(at now: Double) {
        for name in hosts.keys { hosts[name]?.reach.noteNetwork(at: now) }
    }

    // MARK: - Time

    /// Judges what has been learned, once a round trip.
    public mutating func advance(to now: Double, isWaiting: (String) -> Bool) -> [Int] {
        let areHeldBack = isHeldBack(by: urgentRest)
        var fallen: Set<String> = []
        for name in hosts.keys {
            guard var host = hosts[name] else { continue }
            if hasUrgent { host.lastHeldBack = now }
            let isSaturated = isWaiting(name) && !areHeldBack && host.running > 0
            let overdue = {
                [running, link = host.link] in
                running.values.count {
                    $0.candidate.host == name && $0.askTime.map { link.isLate(now - $0) } ?? false
                }
            }
            if Self.advance(&host, isSaturated: isSaturated, overdue: overdue, to: now) { fallen.insert(name) }
            host.underWay = 0
            hosts[name] = host
        }
        for (number, transfer) in running {
            guard let host = hosts[transfer.candidate.host] else { continue }
            let cost = cost(transfer, host)
            hosts[transfer.candidate.host]?.underWay += cost
            let name = transfer.candidate.host
            if !isWaiting(name) || areHeldBack || fallen.contains(name) { running[number]?.isSaturated = false }
        }
        return makeRoom(at: now) + fallen.sorted().flatMap { shed($0) }
    }

    private static func advance(
        _ host: inout Host, isSaturated: Bool, overdue: () -> Int, to now: Double
    ) -> Bool {
        let roundTrip = host.link.roundTripTime
        host.cap.advance(to: now)
        host.link.advance(to: now, isSaturated: isSaturated, overdue: overdue, cap: host.cap.value)
        host.reach.advance(to: now, isBusy: host.running > 0, patience: max(5, 10 * roundTrip))
        let isSettled = host.link.isShared && isSaturated && host.link.isSettled
        if host.trial.advance(
            to: now, isSettled: isSettled, rate: host.link.bandwidth.greatest ?? 0, delivered: host.link.delivered,
            roundTrip: roundTrip)
        {
            host.link.startAgain()
        }
        defer { judgeQuality(&host, at: now) }
        // Never judged while something urgent holds the others back, nor right after.
        return isSaturated && now - host.lastHeldBack > 4 * max(2 * roundTrip, 0.5) && host.link.noteFall(at: now)
    }

    /// Judged by what a user feels: how long a photo takes. Not changed too often, or what runs would be changed each time.
    private static func judgeQuality(_ host: inout Host, at now: Double) {
        guard let rate = host.link.bandwidth.greatest else { return }
        let roundTrip = host.link.roundTripTime
        let time = host.link.size(.photo) / rate + 2 * roundTrip
        let quality: LinkQuality = time < 1 ? .good : time < 4 ? .fair : .poor
        guard quality != host.quality, now - host.qualityTime > max(2, 5 * roundTrip) else { return }
        (host.quality, host.qualityTime) = (quality, now)
    }

    /// Once for each urgent arrival, and not at every look: what was interrupted would be begun and interrupted again.
    private mutating func makeRoom(at now: Double) -> [Int] {
        guard isRoomWanted, let urgent = running.values.first(where: { $0.candidate.importance >= .lookedAt }),
            let host = hosts[urgent.candidate.host], let rate = host.link.bandwidth.greatest
        else { return [] }
        isRoomWanted = false
        return largest(within: rate * max(host.link.roundTripTime, 0.25), keeping: rate * host.link.roundTripTime / 2) {
            _ in true
        }
    }

    /// The link carries much less than what was asked of it in better times. All of that would have to come through before
    /// anything that is wanted from now on.
    private func shed(_ name: String) -> [Int] {
        guard let link = hosts[name]?.link, let rate = link.bandwidth.greatest else { return [] }
        let interrupted = largest(within: rate * max(link.roundTripTime, 0.5), keeping: 0) { $0 == name }
        // Never all of them: to begin the last one again would be no gain.
        return interrupted.count == hosts[name]?.running ? interrupted.dropLast() : interrupted
    }

    /// What has to be interrupted so that the rest fits into so many bytes: the least important first, of those the largest.
    ///
    /// - Parameter small: with so little to come it is sooner through than another is begun.
    private func largest(within room: Double, keeping small: Double, of isMeant: (String) -> Bool) -> [Int] {
        let others = running.filter {
            !$0.value.candidate.isUrgent && !$0.value.candidate.isLocal && isMeant($0.value.candidate.host)
        }
        .map { (number: $0.key, importance: $0.value.candidate.importance, rest: rest(of: $0.value)) }
        .sorted { ($0.importance.rawValue, -$0.rest, $0.number) < ($1.importance.rawValue, -$1.rest, $1.number) }
        var left = others.reduce(0) { $0 + $1.rest }
        var interrupted: [Int] = []
        for other in others where left > room && other.rest >= small {
            left -= other.rest
            interrupted.append(other.number)
        }
        return interrupted
    }

    /// A quarter of a round trip, as long as anything runs.
    public func pace(at now: Double) -> Double? {
        guard !running.isEmpty else {
            return hosts.values.compactMap(\.reach.nextProbe).min().map { max($0 - now, 0.02) }
        }
        let roundTrip = hosts.values.filter { $0.running > 0 }.map(\.link.roundTripTime).min() ?? 0.2
        return min(max(roundTrip / 4, 0.02), 0.25)
    }

    /// What is known of the host that most is transferred from.
    public var report: GovernorReport {
        var report = GovernorReport()
        guard let host = hosts.values.max(by: { ($0.running, $0.link.delivered) < ($1.running, $1.link.delivered) })
        else {
            return report
        }
        report.quality = host.reach.isOffline ? .offline : host.quality
        report.limit = Int(host.cap.value)
        report.window = host.link.window(cap: host.cap.value)
        report.bandwidth = host.link.bandwidth.greatest
        report.roundTrip = host.link.roundTrip.least
        return report
    }
}
