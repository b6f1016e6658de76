import Model
import Numbers
import Text

/// The texts about network traffic.
enum TrafficText {
    /// Returns texts about the traffic for status lines, the longest text first.
    ///
    /// The texts are, for example, `↓ 3 · 1.2 MB/s` and `↓ 3`. Without running transfers, the result is `paused` or
    /// empty. On terminals with only ASCII, the output encoder replaces the arrow.
    static func indicator(_ report: TrafficReport?, speed: Double, isPaused: Bool) -> [String] {
        guard let report, report.running > 0 else { return isPaused ? ["paused"] : [] }
        let short = "↓ \(report.running)"
        return [isPaused ? "\(short) · paused" : "\(short) · \(Self.speed(speed))", short]
    }

    /// Returns a speed such as `1.2 MB/s`.
    static func speed(_ bytesPerSecond: Double) -> String {
        let bytes = bytesPerSecond.isFinite ? min(max(0, bytesPerSecond), 1e18) : 0
        return ByteText.text(ByteCount(bytes).int64) + "/s"
    }

    /// Returns the state of the network as text, and whether the state is bad. The text is empty if the state is
    /// unknown.
    ///
    /// - Parameters:
    ///   - isUsed: whether Vitrine uses the network; false in offline mode.
    ///   - columns: the maximum width.
    static func state(_ report: TrafficReport, isUsed: Bool = true, columns: Int) -> (text: String, isBad: Bool) {
        guard isUsed else { return ("Offline", true) }
        let (text, short, isBad) = state(report)
        return (text.displayWidth <= columns ? text : short, isBad)
    }

    private static func state(_ report: TrafficReport) -> (text: String, short: String, isBad: Bool) {
        guard report.isOnNetwork else { return ("No network", "no net", true) }
        if saysUnreachable(report), let text = unreachable(report) { return (text, "unreachable", true) }
        return switch report.quality {
        case .good: ("Network good", "good", false)
        case .fair: ("Network fair", "fair", false)
        case .poor: ("Network poor", "poor", true)
        case nil: ("", "", false)
        }
    }

    /// Returns whether the text names unreachable hosts. It does if no transfer runs or the network's quality is
    /// unknown.
    private static func saysUnreachable(_ report: TrafficReport) -> Bool {
        report.quality == nil || report.running == 0
    }

    /// Returns a text such as `example.org cannot be reached`; nil if all hosts are reachable.
    private static func unreachable(_ report: TrafficReport) -> String? {
        guard let first = report.unreachable.first else { return nil }
        let others = report.unreachable.count - 1
        let more = others > 0 ? " and \(CountText.text(others, "other host"))" : ""
        return "\(first.madeVisible)\(more) cannot be reached"
    }

    /// Returns details of the traffic, each in a few words.
    ///
    /// - Parameter restrictions: for each program of Vitrine, the restrictions that it runs under.
    static func particulars(_ report: TrafficReport, restrictions: [String: [String]] = [:]) -> [String] {
        var parts: [String] = []
        if report.isOnNetwork, !saysUnreachable(report), let text = unreachable(report) { parts.append(text) }
        // The width is unknown before the first transfer.
        if report.width > 0 {
            // Name the limit only when it holds transfers back.
            let width =
                report.width < report.limit ? "\(report.width) in parallel" : "at most \(report.limit) in parallel"
            parts.append("\(CountText.text(report.running, "transfer")), \(width)")
        }
        if report.window > 0 { parts.append("\(ByteText.text(report.window.int64)) in flight") }
        if let bandwidth = report.bandwidth { parts.append("\(speed(bandwidth)) possible") }
        if let roundTrip = report.roundTrip { parts.append("\(milliseconds(roundTrip)) round trip") }
        parts.append("\(ByteText.text(report.received.int64)) received")
        for (program, names) in restrictions.sorted(by: { $0.key < $1.key }) {
            parts.append("\(program): \(names.joined(separator: ", ").madeVisible)")
        }
        return parts
    }

    private static func milliseconds(_ seconds: Double) -> String {
        guard seconds.isFinite, seconds >= 0, seconds < 1e6 else { return "?" }
        return seconds < 10 ? "\(Int((seconds * 1000).rounded())) ms" : "\(Int(seconds.rounded())) s"
    }
}
