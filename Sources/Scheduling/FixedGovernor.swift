/// Runs a fixed number of transfers, for the setting and for comparison.
public struct FixedGovernor: Governor {
    private let width: Int
    private let interval: Double?
    private var running: [Int: String] = [:]
    /// Failures in a row to reach each host.
    private var failures: [String: Int] = [:]

    /// Failures in a row that make a host unreachable.
    private static let enoughFailures = 3
    /// A list may name very many hosts.
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

    /// Returns one unlimited piece.
    public func pieces(of transfer: Int) -> TransferPieces { .unlimited }

    /// Records whether the host answers, and removes ended transfers.
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

    /// Interrupts nothing.
    public mutating func advance(to now: Double, waiting: (String) -> Int) -> [Int] { [] }

    /// Repeats nothing.
    public mutating func takeHanging(at now: Double) -> [Int: Admission.Way] { [:] }

    /// Returns nil: no transfer counts as hanging.
    public func timeUntilHanging(at now: Double) -> Double? { nil }

    /// Does nothing: the number is fixed.
    public mutating func recordComplaint(of host: String, silence: Double, at now: Double) {}

    /// Does nothing: this governor keeps no silences.
    public mutating func endSilence(of host: String) {}

    /// Clears the record of failures.
    public mutating func recordNetworkChange(at now: Double) { failures = [:] }

    /// Returns the interval while transfers run.
    public func timeUntilAdvance(at now: Double, waiting: (String) -> Int) -> Double? {
        running.isEmpty ? nil : interval
    }

    /// An empty history: this governor measures nothing.
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
