import Model
import Text

/// What is said of how the network does.
enum TrafficText {
    /// For the status line of any screen: how much is on its way, `↓ 3 · 1.2 MB/s`. Empty when nothing is.
    ///
    /// What stands for the arrow where there is ASCII alone, the terminal knows.
    static func indicator(_ report: TrafficReport?, speed: Double, isPaused: Bool) -> [String] {
        guard let report, report.running > 0 else { return isPaused ? ["paused"] : [] }
        let short = "↓ \(report.running)"
        return [isPaused ? "\(short) · paused" : "\(short) · \(Self.speed(speed))", short]
    }

    /// `1.2 MB/s`.
    static func speed(_ bytesPerSecond: Double) -> String {
        let bytes = bytesPerSecond.isFinite ? min(max(0, bytesPerSecond), 1e18) : 0
        return ByteText.text(Int64(bytes)) + "/s"
    }

    /// Nothing, where nothing is known.
    ///
    /// - Parameters:
    ///   - isUsed: whether anything may be fetched at all.
    ///   - columns: as many as there are for it.
    static func quality(_ quality: LinkQuality?, isUsed: Bool = true, columns: Int) -> String {
        guard isUsed else { return "Offline" }
        let (text, short) =
            switch quality {
            case .good: ("Network good", "good")
            case .fair: ("Network fair", "fair")
            case .poor: ("Network poor", "poor")
            case .offline: ("No network", "offline")
            case nil: ("", "")
            }
        return text.displayWidth <= columns ? text : short
    }

    /// How much the controller lets run, and why: each a few words.
    static func particulars(_ report: TrafficReport) -> [String] {
        var parts: [String] = []
        // Before anything was transferred there is no saying.
        if report.limit > 0 {
            parts.append("\(CountText.text(report.running, "transfer")), \(report.limit) at most")
        }
        if report.window > 0 { parts.append("\(ByteText.text(report.window)) at once") }
        if let bandwidth = report.bandwidth { parts.append("\(speed(bandwidth)) possible") }
        if let roundTrip = report.roundTrip { parts.append("\(milliseconds(roundTrip)) round trip") }
        parts.append("\(ByteText.text(max(0, report.received))) received")
        return parts
    }

    private static func milliseconds(_ seconds: Double) -> String {
        guard seconds.isFinite, seconds >= 0, seconds < 1e6 else { return "?" }
        return seconds < 10 ? "\(Int((seconds * 1000).rounded())) ms" : "\(Int(seconds.rounded())) s"
    }
}
