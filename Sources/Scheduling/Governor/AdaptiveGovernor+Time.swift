import Model

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
