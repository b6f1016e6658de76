/// Whether a host can be reached, and when to probe it if not.
struct Reachability {
    /// The next probe and the wait after it, while the host cannot be reached.
    private var probe: (time: Double, wait: Double)?
    private var failures = 0
    /// When the host last sent something, or when transfers began after a pause.
    private(set) var lastSign = 0.0

    private static let longestWait = 30.0

    var isOffline: Bool { probe != nil }
    /// Whether the last attempt failed. Three failures make the host count as offline.
    var isMissed: Bool { isOffline || failures > 0 }
    /// When the next probe is due, while the host cannot be reached.
    var nextProbe: Double? { probe?.time }

    /// Records a byte, a connection or an answer.
    mutating func recordSign(at now: Double) {
        (probe, failures, lastSign) = (nil, 0, now)
    }

    /// Records that transfers begin where none ran.
    mutating func recordBeginning(at now: Double) {
        lastSign = max(lastSign, now)
    }

    mutating func recordUnreachable(at now: Double) {
        failures += 1
        if failures >= 3 { goOffline(at: now) }
    }

    /// - Parameter patience: seconds without a sign, while transfers run, after which the host counts as offline.
    mutating func advance(to now: Double, isBusy: Bool, patience: Double) {
        if isBusy, now - lastSign > patience { goOffline(at: now) }
    }

    /// Returns whether a probe may start now, and schedules the next one.
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
