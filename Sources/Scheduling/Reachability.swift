/// Whether a host can be reached, and if not, when that is tried next.
struct Reachability {
    /// Tries while it cannot be: when the next one is, and how long to wait after that.
    private var probe: (time: Double, wait: Double)?
    private var failures = 0
    /// When something last came from it, or was begun after a pause.
    private(set) var lastSign = 0.0

    private static let longestWait = 30.0

    var isOffline: Bool { probe != nil }
    /// Whether the last attempt did not reach it; three of them make it count as offline.
    var isMissed: Bool { isOffline || failures > 0 }
    /// When the next try is due, while it cannot be reached.
    var nextProbe: Double? { probe?.time }

    /// A byte, a connection, or an answer has come.
    mutating func noteSign(at now: Double) {
        (probe, failures, lastSign) = (nil, 0, now)
    }

    /// Something begins where nothing was under way.
    mutating func noteBeginning(at now: Double) {
        lastSign = max(lastSign, now)
    }

    mutating func noteUnreachable(at now: Double) {
        failures += 1
        if failures >= 3 { goOffline(at: now) }
    }

    /// - Parameter patience: seconds without any sign, with transfers under way, after which nobody is there.
    mutating func advance(to now: Double, isBusy: Bool, patience: Double) {
        if isBusy, now - lastSign > patience { goOffline(at: now) }
    }

    /// Whether a try may be made now; then the next one is a while away.
    mutating func takeProbe(at now: Double) -> Bool {
        guard let (time, wait) = probe, now >= time else { return false }
        probe = (now + wait, min(2 * wait, Self.longestWait))
        return true
    }

    private mutating func goOffline(at now: Double) {
        if probe == nil { probe = (now + 1, 2) }
    }

    /// The system says that there is a network again.
    mutating func noteNetwork(at now: Double) {
        if probe != nil { probe = (now, 1) }
    }
}
