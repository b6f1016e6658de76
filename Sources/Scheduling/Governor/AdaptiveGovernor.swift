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
    var hosts: [String: GovernedHost] = [:]
    var running = RunningTransfers()
    /// Which of them the user waits for. Each admission asks for these few, and they are not to be looked for among all.
    var urgent: Set<Int> = []
    /// Something that is looked at has started, and nothing was interrupted for it yet.
    var isRoomWanted = false
    /// Hosts that let no more run at once, where the user waits for something that could not be started for that reason.
    var crowded: Set<String> = []

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
    var urgentTransfers: [RunningTransfer] {
        urgent.sorted().compactMap { running[$0] }.filter { hosts[$0.candidate.host]?.reachability.isOffline != true }
    }

    /// Whether there is anything of the kind.
    var isAnythingUrgent: Bool { !urgentTransfers.isEmpty }

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

    func rest(of transfer: RunningTransfer) -> Double {
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
