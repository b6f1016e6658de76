import Model

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
