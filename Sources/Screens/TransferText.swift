import Model
import Text

/// How far one transfer has come, in words.
enum TransferText {
    static func text(_ stage: TransferReport.Stage, now: Timestamp) -> String {
        switch stage {
        case .queued: "queued"
        case .running(let progress, let speed):
            [
                progress.done > 0 ? ByteText.text(progress.done, of: progress.total) : "asked for",
                speed.map { TrafficText.speed($0) },
            ].compactMap { $0 }.joined(separator: "  ")
        case .waiting(let failure, _, let until?):
            "again at \(DateText.clock(until, now: now)): \(failure)"
        case .waiting(let failure, _, nil): "waits: \(failure)"
        }
    }

    /// All there is to say of one that waits; nil for others.
    static func reason(_ stage: TransferReport.Stage, now: Timestamp) -> String? {
        guard case .waiting(let failure, let attempts, let until) = stage else { return nil }
        let again = until.map { "again at \(DateText.clock($0, now: now))" } ?? "again when something changes"
        return "\(failure) · tried \(CountText.text(attempts, "time")), \(again)"
    }
}
