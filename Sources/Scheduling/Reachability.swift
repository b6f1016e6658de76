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
    mutating func recordSign(at now: Double) {
        (probe, failures, lastSign) = (nil, 0, now)
    }

    /// Records that a transfer starts while no other runs.
    mutating func recordBeginning(at now: Double) {
        lastSign = max(lastSign, now)
    }

    mutating func recordUnreachable(at now: Double) {
        failures += 1
        if failures >= 3 { goOffline(at: now) }
    }

    /// - Parameter patience: the number of seconds after which a host that sends nothing counts as offline, while
    ///   transfers run.
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
