/// Lets a fixed number run, whatever the network is like: for comparison, and for who insists.
public struct FixedGovernor: Governor {
    private let width: Int
    private let interval: Double?
    private var running: [Int: String] = [:]
    private var found = FoundHosts()

    /// A governor of that width.
    ///
    /// - Parameter pace: seconds between two looks at what is under way. Nothing depends on them but what is shown.
    public init(width: Int, pace: Double? = nil) {
        self.width = width
        interval = pace
    }

    /// Lets it start if fewer run than may.
    public mutating func admit(_ candidate: TransferCandidate, at now: Double) -> Admission {
        running.count < width ? .now(.any) : .linkIsBusy
    }

    /// Counts it among what runs.
    public mutating func noteStart(
        of transfer: Int, _ candidate: TransferCandidate, over way: Admission.Way, at now: Double
    ) {
        running[transfer] = candidate.host
    }

    /// Nothing comes in pieces.
    public func pieces(of transfer: Int) -> TransferPieces { .unlimited }

    /// Counts down what has ended.
    public mutating func note(_ news: TransferNews, of transfer: Int, at now: Double) {
        guard let host = running[transfer] else { return }
        found.note(news, of: host)
        if case .ended = news { running[transfer] = nil }
    }

    /// Nothing is interrupted.
    public mutating func advance(to now: Double, waiting: (String) -> Int) -> [Int] { [] }

    /// Nothing is asked for twice.
    public mutating func takeHanging(at now: Double) -> [Int: Admission.Way] { [:] }

    /// It waits for whatever comes.
    public func patience(at now: Double) -> Double? { nil }

    /// The width is what it is.
    public mutating func noteComplaint(of host: String, silence: Double, at now: Double) {}

    /// It keeps none.
    public mutating func endSilence(of host: String) {}

    /// What it does is the same on each.
    public mutating func noteNetwork(at now: Double) { found = FoundHosts() }

    /// As it was made.
    public func pace(at now: Double, waiting: (String) -> Int) -> Double? { running.isEmpty ? nil : interval }

    /// It finds out nothing.
    public var history: HostHistory { HostHistory() }

    /// The width, and which hosts cannot be reached. How good the network is it does not find out.
    public var report: GovernorReport {
        var report = GovernorReport()
        (report.width, report.limit) = (width, width)
        (report.unreachable, report.missed) = (found.unreachable, found.missed)
        return report
    }
}

/// Which hosts answer, and which cannot be reached: for who does nothing about it, and says so.
struct FoundHosts: Sendable {
    /// How often in a row each was not reached.
    private var failures: [String: Int] = [:]

    /// So many are no accident.
    private static let enough = 3
    /// A list may name very many.
    private static let mostHosts = 256

    /// Hosts that cannot be reached.
    var unreachable: Set<String> { Set(failures.filter { $0.value >= Self.enough }.keys) }

    /// Hosts that could not be reached at the last attempt.
    var missed: Set<String> { Set(failures.keys) }

    mutating func note(_ news: TransferNews, of host: String) {
        // Files of this machine come over no network.
        guard !host.isEmpty else { return }
        switch news {
        case .connected, .answered, .received, .ended(.completed): failures[host] = nil
        case .ended(.unreachable):
            if failures.count >= Self.mostHosts { failures = [:] }
            failures[host, default: 0] += 1
        case .askedAgain, .asked, .packets, .importance, .ended: break
        }
    }
}
