import Model
import Concurrency

/// How much comes from the network, and how well.
extension Activity {
    struct Traffic {
        var report: TrafficReport?
        var notedAt = Timestamp(milliseconds: 0)
        var history = SpeedHistory()
        var watchers = 0
    }

    /// Notes how the network does. Whoever transfers says so when the first transfer begins, a few times a second while any
    /// run, and once more when the last has ended; what is done for the user alone, the list of the transfers, only while
    /// ``isTrafficWatched``.
    ///
    ///     activity.setTraffic(TrafficReport(running: 3, limit: 8, received: 1_200_000), at: now)
    ///
    /// - Parameter time: when it was so. The speeds of the last minute follow from it and from the bytes received.
    public func setTraffic(_ report: TrafficReport, at time: Timestamp) {
        change { state in
            state.traffic.history.note(received: report.received, at: time)
            state.traffic.notedAt = time
            state.traffic.report = report
            return Change(hasTraffic: true)
        }
    }

    /// How the network did when last it was noted; nil before that.
    public var traffic: TrafficReport? {
        state.withLock { $0.traffic.report }
    }

    /// The bytes that came in each of the sixty seconds before the last note, the oldest first.
    public var speeds: [Int64] {
        state.withLock { $0.traffic.history.seconds.map(\.int64) }
    }

    /// Bytes a second at the last note.
    public var speed: Double {
        state.withLock { $0.traffic.history.speed(at: $0.traffic.notedAt) }
    }

    /// Says that somebody looks at the transfers, for as long as what is returned is kept.
    public func watchTraffic() -> TrafficWatch {
        watch(by: 1)
        return TrafficWatch { [weak self] in self?.watch(by: -1) }
    }

    /// Whether anybody looks at the transfers. If nobody does, nobody need list them.
    public var isTrafficWatched: Bool {
        state.withLock { $0.traffic.watchers > 0 }
    }

    /// Begins to listen to whether anybody looks at the transfers: first whether somebody does now, then what becomes of it.
    /// Who begins to look wants a report at once, even if nothing runs.
    public func trafficInterest() -> CoalescingStream<TrafficInterest> {
        state.withLock { watching.subscribe(beginningWith: TrafficInterest(isWatched: $0.traffic.watchers > 0)) }
    }

    private func watch(by count: Int) {
        // Sent under the lock, so that two cannot arrive in the wrong order.
        state.withLock { state in
            let before = state.traffic.watchers > 0
            state.traffic.watchers += count
            let isWatched = state.traffic.watchers > 0
            if isWatched != before { watching.send(TrafficInterest(isWatched: isWatched)) }
        }
    }
}

extension Activity.Change {
    /// Whether it is about the traffic and about nothing else: of that there is news many times a second.
    public var isTrafficAlone: Bool {
        var rest = self
        rest.hasTraffic = false
        return rest == Activity.Change()
    }
}
