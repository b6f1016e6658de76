import Model
import Numbers

/// Runs as many transfers as the link can use. The governor finds this number from measured rates and delays.
///
/// For each host the governor keeps a window (``HostPath``): a number of bytes that may be requested but not yet
/// received. A transfer may start while fewer bytes are under way. A transfer that the user waits for starts at once,
/// and others wait until so few of its bytes are left that more bandwidth would not make it faster. When the user opens
/// a photo, the governor once interrupts so many transfers that the link drains in about a round trip.
public struct AdaptiveGovernor: Governor {
    private var remembered: HostHistory
    /// The hosts that the governor knows, by name. Tests read this dictionary.
    private(set) var hosts: [String: GovernedHost] = [:]
    private var running = RunningTransfers()
    /// Whether the governor must still interrupt transfers for a photo that the user has opened.
    private var mustDrain = false
    /// The hosts whose limit delays a transfer that the user waits for.
    private var crowded: Set<String> = []
    private let width: Int

    /// The maximum number of transfers of all hosts. Each needs a descriptor; a list may name a host for each picture.
    public static let greatestWidth = 128
    /// The maximum number of hosts to keep. A list may name very many, and the governor checks each host often.
    private static let mostHosts = 256
    /// The maximum number of hosts to keep when many are unreachable or have refused requests.
    private static let mostHostsWithFailures = 1_024

    /// Creates a governor that starts with a history of earlier runs.
    ///
    /// - Parameter width: the maximum number of transfers of all hosts, for systems with few file descriptors.
    public init(history: HostHistory = HostHistory(), width: Int = AdaptiveGovernor.greatestWidth) {
        remembered = history
        self.width = min(max(1, width), Self.greatestWidth)
    }

    // MARK: - Admission

    /// Admits a transfer within the window and the limits. It must slow down no transfer that the user waits for.
    public mutating func admit(_ candidate: TransferCandidate, at now: Double) -> Admission {
        var host = hosts[candidate.host] ?? newHost(candidate)
        guard !candidate.isLocal else { return host.hasSpaceForLocal ? .now(.any) : .hostIsBusy }
        if host.reachability.isOffline {
            // Only this branch changes the host, so only this branch stores it.
            defer { hosts[candidate.host] = host }
            return host.admitsOffline(candidate, at: now) ? .now(.any) : .hostIsBusy
        }
        if Double(host.running) >= host.cap.value {
            if candidate.isUrgent { crowded.insert(candidate.host) }
            return .hostIsBusy
        }
        if candidate.isUrgent { return .now(host.way(for: candidate)) }
        if host.cap.isSilent(at: now) { return .hostIsBusy }
        if areOthersHeldBack || running.count >= width { return .linkIsBusy }
        // Do not report that the link is busy, because thumbnails of other hosts may still start.
        if candidate.kind == .photo, !urgentTransfers.isEmpty { return .hostIsBusy }
        if host.trial.wantsAnother { return .now(.few) }
        guard host.running == 0 || host.underWay < host.window else { return .hostIsBusy }
        return .now(host.way(for: candidate))
    }

    private func newHost(_ candidate: TransferCandidate) -> GovernedHost {
        GovernedHost(remembered[candidate.host], isSecure: candidate.isSecure, isForUploads: candidate.kind == .upload)
    }

    /// The running transfers that the user waits for. Attempts to reach an unreachable host are excluded.
    private var urgentTransfers: [RunningTransfer] {
        running.compactMap { $1.isUrgent && hosts[$1.candidate.host]?.reachability.isOffline != true ? $1 : nil }
    }

    /// Whether only transfers that the user waits for may start.
    var areOthersHeldBack: Bool {
        let rests = Dictionary(urgentTransfers.map { ($0.candidate.host, rest(of: $0)) }, uniquingKeysWith: +)
        return rests.contains { name, rest in
            guard let path = hosts[name]?.path, let capacity = path.capacity else { return false }
            return path.packets.losses.isRepeated || rest > capacity / 2
        }
    }

    private func rest(of transfer: RunningTransfer) -> Double {
        let size = hosts[transfer.candidate.host]?.path.size(transfer.candidate.kind)
        return transfer.rest(expecting: size ?? transfer.candidate.kind.usualSize)
    }

    /// Adds a started transfer to the running transfers.
    public mutating func recordStart(
        of transfer: Int, _ candidate: TransferCandidate, over way: Admission.Way, at now: Double
    ) {
        var host = hosts[candidate.host] ?? newHost(candidate)
        if host.running == 0 { host.recordBeginning(at: now) }
        host.running += 1
        if !candidate.isAgain { host.lastStarted = candidate.importance }
        let isTrial = way.connection == .few && host.trial.wantsAnother
        if isTrial { host.trial.recordStart() }
        let new = RunningTransfer(
            candidate: candidate, isTrial: isTrial, isRepeated: candidate.isAgain, sign: now,
            asked: way.isInPieces ? 0 : nil, askTime: now, sampleTime: now, deliveredAtSample: host.path.delivered)
        running[transfer] = new
        host.underWay += host.cost(new)
        hosts[candidate.host] = host
        forgetIdleHosts()
        if new.isLookedAt { mustDrain = true }
    }

    // MARK: - Pieces

    /// Returns the sizes of the pieces that a transfer may request now.
    ///
    /// A transfer that the user waits for may fill the part of the window that its host's other transfers leave free.
    /// More bytes would only overflow a queue. Meanwhile, the other transfers request no piece.
    public func pieces(of number: Int) -> TransferPieces {
        guard let transfer = running[number], let host = hosts[transfer.candidate.host] else { return .unlimited }
        let window = host.window
        guard transfer.isUrgent else {
            return TransferPieces(window: urgentTransfers.isEmpty ? host.cost(transfer) : 0, of: window)
        }
        let others = running.lazy.filter { $0 != number && $1.candidate.host == transfer.candidate.host }
            .reduce(0) { $0 + underWay($1.transfer) }
        return TransferPieces(window: max(window - others, min(window, Self.leastWindow)), of: window)
    }

    /// The least window of a transfer that the user waits for, in bytes. With this window, the transfer begins at once.
    private static let leastWindow = 32_768.0

    /// Returns the number of bytes of a transfer that were requested but not received.
    private func underWay(_ transfer: RunningTransfer) -> Double {
        transfer.asked.map { max($0 - transfer.received, 0) } ?? rest(of: transfer)
    }

    /// Returns whether the window limits an urgent transfer in pieces. Its rate then shows the capacity even alone.
    private func isSaturatedByPieces(_ name: String, _ host: GovernedHost) -> Bool {
        running.contains { _, transfer in
            transfer.isUrgent && transfer.asked != nil && transfer.candidate.host == name
                && rest(of: transfer) > host.window
        }
    }

    // MARK: - Events

    /// Updates the measurements after an event of a transfer.
    public mutating func record(_ event: TransferEvent, of number: Int, at now: Double) {
        guard var transfer = running[number], var host = hosts[transfer.candidate.host] else { return }
        defer { hosts[transfer.candidate.host] = host }
        switch event {
        case .connected(let seconds):
            host.path.recordConnect(seconds, at: now)
            // The handshake is not part of the bandwidth sample.
            (transfer.sampleTime, transfer.deliveredAtSample) = (now, host.path.delivered)
            // TLS takes another round trip before the request.
            let askTime = now + (transfer.candidate.isSecure ? host.path.roundTripTime : 0)
            (transfer.askTime, transfer.sign, transfer.isAnswered) = (askTime, askTime, false)
            host.reachability.recordSign(at: now)
        case .answered(let wait, let length, let isShared):
            host.path.recordAnswer(wait, of: transfer.candidate.kind, isShared: isShared, at: now)
            host.reachability.recordSign(at: now)
            if transfer.candidate.kind == .thumbnail { host.waits.add(wait) }
            // The answer to an upload has a length of its own.
            if !transfer.isUpload { transfer.length = length ?? transfer.length }
            (transfer.askTime, transfer.sign, transfer.isAnswered) = (nil, now, true)
        case .askedAgain: (transfer.askTime, transfer.sign, transfer.isAnswered) = (now, now, false)
        case .received(let bytes):
            guard bytes > transfer.received else { return }
            host.path.recordDelivered(bytes - transfer.received, at: now)
            host.reachability.recordSign(at: now)
            if transfer.candidate.kind == .photo, transfer.isAnswered {
                host.path.recordSilence(from: transfer.sign, to: now)
            }
            (transfer.received, transfer.sign) = (bytes, now)
            if transfer.isLong, now - transfer.sampleTime > max(2 * host.path.roundTripTime, 0.25) {
                host.sample(&transfer, at: now)
            }
        case .asked(let bytes): transfer.asked = bytes
        case .packets(let count, let disordered, let roundTrip):
            if count > 0 { host.path.recordPackets(areOrdered: disordered == 0, roundTrip: roundTrip, at: now) }
        case .importance(let importance):
            let wasLookedAt = transfer.isLookedAt
            transfer.candidate.importance = importance
            if transfer.isLookedAt, !wasLookedAt { mustDrain = true }
        case .ended(let ending):
            host.recordEnd(of: transfer, ending, at: now)
            running[number] = nil
            return
        }
        running[number] = transfer
    }

    /// Halves the host's limit. For the given seconds, only transfers that the user waits for may start.
    public mutating func recordComplaint(of host: String, silence: Double, at now: Double) {
        let roundTrip = hosts[host]?.path.roundTripTime ?? 0.2
        hosts[host]?.cap.recordComplaint(at: now, roundTrip: roundTrip, silence: silence)
        if hosts[host]?.trial.recordRefusal(at: now) == true { hosts[host]?.path.restart(sharing: true) }
    }

    /// Allows requests to the host again, until its next refusal.
    public mutating func endSilence(of host: String) { hosts[host]?.cap.endSilence() }

    /// Probes unreachable hosts at once, and discards the measurements of the previous network.
    public mutating func recordNetworkChange(at now: Double) {
        for name in hosts.keys { hosts[name]?.recordNetworkChange(at: now) }
        for (number, var transfer) in running {
            (transfer.askTime, transfer.sign, transfer.sampleTime) = (nil, now, now)
            transfer.deliveredAtSample = hosts[transfer.candidate.host]?.path.delivered ?? 0
            running[number] = transfer
        }
    }

    // MARK: - Time

    /// Evaluates the measurements, and returns the transfers to interrupt.
    public mutating func advance(to now: Double, waiting: (String) -> Int) -> [Int] {
        let areHeldBack = areOthersHeldBack
        var collapsed: [String] = []
        for name in hosts.keys {
            guard var host = hosts[name] else { continue }
            host.setWaiting(waiting(name), at: now)
            let isSaturated =
                host.running > 0 && (host.hasMoreToStart && !areHeldBack || isSaturatedByPieces(name, host))
            let wasUnshared = host.trial.isUnshared
            let hasCollapsed = host.advance(to: now, isSaturated: isSaturated) { [running, path = host.path] in
                // The answer to an upload follows the whole file, so it is never overdue.
                running.count { _, transfer in
                    transfer.candidate.host == name && !transfer.isLeft && !transfer.isUpload
                        && transfer.askTime.map { path.isLate(now - $0) } ?? false
                }
            }
            if hasCollapsed { collapsed.append(name) }
            if host.trial.isUnshared, !wasUnshared { leaveShared(name) }
            host.underWay = 0
            // Most hosts have nothing under way.
            for (number, transfer) in running where host.running > 0 && transfer.candidate.host == name {
                host.underWay += host.cost(transfer)
                // The pieces of an opened photo keep the link full by themselves.
                let fillsLink = transfer.asked != nil && transfer.isUrgent
                if (!host.hasMoreToStart || areHeldBack) && !fillsLink || hasCollapsed {
                    running[number]?.isSaturated = false
                }
            }
            hosts[name] = host
        }
        return drain() + collapsed.sorted().flatMap { shed($0) } + freePlaces()
    }

    private mutating func leaveShared(_ name: String) {
        for (number, transfer) in running where transfer.candidate.host == name && !transfer.isTrial {
            running[number]?.isLeft = true
        }
    }

    /// Returns the seconds until the next evaluation. While transfers run, that is a quarter of a round trip. Otherwise
    /// it is the time until the governor may try a host for which transfers wait.
    public func timeUntilAdvance(at now: Double, waiting: (String) -> Int) -> Double? {
        guard !running.isEmpty else {
            return hosts.compactMap { waiting($0.key) > 0 ? $0.value.nextTry(at: now) : nil }.min()
                .map { max($0 - now, 0.02) }
        }
        let roundTrip = hosts.values.filter { $0.running > 0 }.map(\.path.roundTripTime).min() ?? 0.2
        return min(max(roundTrip / 4, 0.02), 0.25)
    }

    // MARK: - Interruption

    /// Returns transfers to interrupt for a photo that the user has opened. Interrupts transfers only once per photo,
    /// because otherwise they would start and stop again and again.
    private mutating func drain() -> [Int] {
        guard mustDrain, let photo = urgentTransfers.first(where: \.isLookedAt),
            let path = hosts[photo.candidate.host]?.path, let rate = path.bandwidth.greatest
        else { return [] }
        mustDrain = false
        return largest(
            within: rate * max(path.roundTripTime, 0.25), keeping: rate * path.roundTripTime / 2, where: { _ in true })
    }

    /// Returns the transfers to interrupt after a host's link has collapsed. Otherwise, later ones would wait for them.
    private func shed(_ name: String) -> [Int] {
        guard let path = hosts[name]?.path, let rate = path.bandwidth.greatest else { return [] }
        let interrupted = largest(within: rate * max(path.roundTripTime, 0.5), keeping: 0) { $0.candidate.host == name }
        // One transfer continues, because restarting it would gain nothing.
        return interrupted.count == hosts[name]?.running ? interrupted.dropLast() : interrupted
    }

    /// Returns a photo to interrupt on each host at its limit. A transfer that the user waits for starts instead. The
    /// photo keeps its bytes; thumbnails would lose theirs, and are complete soon.
    private mutating func freePlaces() -> [Int] {
        defer { crowded = [] }
        return crowded.sorted().compactMap { name in
            let ofHost = running.filter { $0.transfer.candidate.host == name }
            // An interrupted transfer keeps its place until it has ended.
            guard let host = hosts[name], Double(host.running) >= host.cap.value,
                !ofHost.contains(where: \.transfer.isGivenUp),
                let last = ofHost.filter({ $0.transfer.candidate.kind == .photo && isInterruptible($0.transfer) })
                    .min(by: { $0.transfer.candidate.importance < $1.transfer.candidate.importance })
            else { return nil }
            running[last.number]?.isGivenUp = true
            return last.number
        }
    }

    private func isInterruptible(_ transfer: RunningTransfer) -> Bool {
        !transfer.candidate.isUrgent && !transfer.candidate.isLocal
    }

    /// Returns the transfers to interrupt. The remaining bytes of all others should then not exceed a limit. The least
    /// important transfers come first, and among them the largest.
    ///
    /// - Parameter small: a transfer with a smaller rest is not interrupted, because it is complete soon.
    private func largest(
        within limit: Double, keeping small: Double, where isMeant: (RunningTransfer) -> Bool
    ) -> [Int] {
        let others = running.filter { isInterruptible($1) && isMeant($1) && $1.asked == nil }
            .map { (number: $0, importance: $1.candidate.importance, rest: rest(of: $1)) }
            .sorted { ($0.importance.rawValue, -$0.rest, $0.number) < ($1.importance.rawValue, -$1.rest, $1.number) }
        var left = others.reduce(0) { $0 + $1.rest }
        var interrupted: [Int] = []
        for other in others where left > limit && other.rest >= small {
            left -= other.rest
            interrupted.append(other.number)
        }
        return interrupted
    }

    // MARK: - Hanging transfers

    /// With more transfers of the greatest importance, no thumbnail counts as hanging.
    private static let few = 6
    /// The shortest wait after which a thumbnail can count as hanging, in seconds.
    private static let leastWait = 0.05

    /// Returns the hanging thumbnails to request a second time.
    ///
    /// A server notices the loss of an answer's last packet only when its timer expires. While others wait to start,
    /// this costs nothing. Later it delays the last thumbnails, and a second request over another connection is faster.
    public mutating func takeHanging(at now: Double) -> [Int: Admission.Way] {
        var ways: [Int: Admission.Way] = [:]
        var taken: [String: Int] = [:]
        for (number, time, way) in hangTimes.sorted(by: { ($0.time, $0.number) < ($1.time, $1.number) })
        where time <= now {
            guard let name = running[number]?.candidate.host, let host = hosts[name],
                Double(host.running + taken[name, default: 0]) < host.cap.value
            else { continue }
            taken[name, default: 0] += 1
            running[number]?.isRepeated = true
            ways[number] = way
        }
        return ways
    }

    /// Returns the seconds until the first thumbnail counts as hanging; nil if none will.
    public func timeUntilHanging(at now: Double) -> Double? {
        hangTimes.map(\.time).min().map { max($0 - now, 0.02) }
    }

    /// The times at which thumbnails count as hanging without an event, and the ways to request them again.
    private var hangTimes: [(number: Int, time: Double, way: Admission.Way)] {
        guard let greatest = running.lazy.map(\.transfer.candidate.importance).max() else { return [] }
        let last = running.filter { $0.transfer.candidate.importance == greatest }
        guard last.count <= Self.few else { return [] }
        return last.compactMap { number, transfer in
            // A less important transfer starts only when no transfer of the greatest importance waits. On a slow link,
            // a second request delays all others, so there no transfer at all may wait.
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
        // A server's earlier answers show how long it takes to answer.
        let wait = transfer.isAnswered ? host.path.silence(among: host.running) : host.waits.bound
        return wait.map { transfer.sign + max($0, Self.leastWait) }
    }

    // MARK: - Results

    /// The initial history, updated with the measurements of this run.
    public var history: HostHistory {
        var history = remembered
        for (name, host) in hosts.sorted(by: { $0.value.reachability.lastSign < $1.value.reachability.lastSign }) {
            Self.keep(host, name, in: &history)
        }
        return history
    }

    private static func keep(_ host: GovernedHost, _ name: String, in history: inout HostHistory) {
        guard !name.isEmpty, let capacity = host.path.capacity else { return }
        history[name] = capacity.rounded(.down)
    }

    /// Removes the hosts that have been idle for longest. The history keeps the capacities of these hosts.
    private mutating func forgetIdleHosts() {
        guard hosts.count > Self.mostHosts else { return }
        let areMany = hosts.count > Self.mostHostsWithFailures
        let idle = hosts.filter { areMany ? $0.value.isIdle : $0.value.isForgettable }
            .sorted { $0.value.reachability.lastSign < $1.value.reachability.lastSign }
        for (name, host) in idle.prefix(hosts.count - Self.mostHosts * 3 / 4) {
            Self.keep(host, name, in: &remembered)
            hosts[name] = nil
        }
    }

    /// A report about the reachable host that runs the most transfers. Reads of files on this machine do not count.
    public var report: GovernorReport {
        var report = GovernorReport()
        report.missed = Set(hosts.filter(\.value.reachability.isMissed).keys)
        report.unreachable = Set(hosts.filter(\.value.reachability.isOffline).keys)
        report.silences = hosts.mapValues(\.cap.silenceEnd).filter { $0.value > 0 }
        let known = hosts.filter { !$0.key.isEmpty }.values
        let reached = known.filter { !$0.reachability.isMissed }
        let busiest = (reached.isEmpty ? Array(known) : reached)
            .max { ($0.running, $0.path.delivered) < ($1.running, $1.path.delivered) }
        guard let host = busiest else { return report }
        report.limit = Int(clamped: host.cap.value)
        // Measurements of a host that cannot be reached say nothing about the present network.
        guard !host.reachability.isMissed else { return report }
        report.quality = host.measuredQuality
        report.window = host.window
        report.width = host.width
        report.bandwidth = host.path.bandwidth.greatest
        report.roundTrip = host.path.roundTrip.least
        return report
    }
}
