/// Runs a fixed number of transfers, for users who set the number, and for benchmarks.
public struct FixedGovernor: Governor {
    private let width: Int
    private let interval: Double?
    private var running: [Int: String] = [:]
    /// The number of failed attempts in a row to reach each host.
    private var failures: [String: Int] = [:]

    /// The number of failures in a row after which a host counts as unreachable.
    private static let enoughFailures = 3
    /// The maximum number of hosts to remember. A list may name very many hosts.
    private static let mostHosts = 256

    /// Creates a governor that runs `width` transfers.
    ///
    /// - Parameter interval: seconds between two progress updates while transfers run.
    public init(width: Int, interval: Double? = nil) {
        self.width = width
        self.interval = interval
    }

    /// Admits a transfer while fewer than the fixed number run.
    public mutating func admit(_ candidate: TransferCandidate, at now: Double) -> Admission {
        running.count < width ? .now(.any) : .linkIsBusy
    }

    /// Counts the transfer as running.
    public mutating func recordStart(
        of transfer: Int, _ candidate: TransferCandidate, over way: Admission.Way, at now: Double
    ) {
        running[transfer] = candidate.host
    }

    /// Returns one piece without limits.
    public func pieces(of transfer: Int) -> TransferPieces { .unlimited }

    /// Records whether the host answers. Removes the transfer if it has ended.
    public mutating func record(_ event: TransferEvent, of transfer: Int, at now: Double) {
        guard let host = running[transfer] else { return }
        if case .ended = event { running[transfer] = nil }
        // Files of this machine have no host.
        guard !host.isEmpty else { return }
        switch event {
        case .connected, .answered, .received, .ended(.completed): failures[host] = nil
        case .ended(.unreachable):
            if failures.count >= Self.mostHosts { failures = [:] }
            failures[host, default: 0] += 1
        case .askedAgain, .asked, .packets, .importance, .ended: break
        }
    }

    /// Returns no transfers: this governor interrupts none.
    public mutating func advance(to now: Double, waiting: (String) -> Int) -> [Int] { [] }

    /// Returns no transfers: this governor requests none a second time.
    public mutating func takeHanging(at now: Double) -> [Int: Admission.Way] { [:] }

    /// Returns nil, because no transfer counts as hanging.
    public func timeUntilHanging(at now: Double) -> Double? { nil }

    /// Does nothing, because the number is fixed.
    public mutating func recordComplaint(of host: String, silence: Double, at now: Double) {}

    /// Does nothing, because this governor does not stop requests to a host.
    public mutating func endSilence(of host: String) {}

    /// Clears the record of failures.
    public mutating func recordNetworkChange(at now: Double) { failures = [:] }

    /// Returns the interval while transfers run, otherwise nil.
    public func timeUntilAdvance(at now: Double, waiting: (String) -> Int) -> Double? {
        running.isEmpty ? nil : interval
    }

    /// An empty history, because this governor measures nothing.
    public var history: HostHistory { HostHistory() }

    /// The fixed number, and the hosts that cannot be reached.
    public var report: GovernorReport {
        var report = GovernorReport()
        (report.width, report.limit) = (width, width)
        report.missed = Set(failures.keys)
        report.unreachable = Set(failures.filter { $0.value >= Self.enoughFailures }.keys)
        return report
    }
}
