import Model

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
