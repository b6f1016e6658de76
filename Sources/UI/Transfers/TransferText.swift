import Model
import Text

/// How far one transfer has come, in words.
enum TransferText {
    static func text(_ stage: TransferReport.Stage, now: Timestamp) -> String {
        switch stage {
        case .queued: "queued"
        case .running(let progress, let speed):
            [
                progress.done > 0 ? ByteText.text(progress.done.int64, of: progress.total?.int64) : "asked for",
                speed.map { TrafficText.speed($0) },
            ].compactMap { $0 }.joined(separator: "  ")
        case .waiting(let failure, _, let until?):
            "again at \(DateText.clock(until, now: now)): \(failure)"
        case .waiting(let failure, _, nil): "waits: \(failure)"
        case .heldBack(let failure, _): "queued: \(failure)"
        }
    }

    /// All there is to say of one that something is in the way of; nil for others.
    static func reason(_ stage: TransferReport.Stage, now: Timestamp) -> String? {
        switch stage {
        case .running, .queued: return nil
        case .waiting(let failure, let attempts, let until):
            let again = until.map { "again at \(DateText.clock($0, now: now))" } ?? "again when something changes"
            return "\(failure) · \(tried(attempts)), \(again)"
        case .heldBack(let failure, 0): return "\(failure) · not tried yet"
        case .heldBack(let failure, let attempts): return "\(failure) · \(tried(attempts)), again when its turn comes"
        }
    }

    private static func tried(_ attempts: Int) -> String { "tried \(CountText.text(attempts, "time"))" }

    /// Whether something is in the way of it.
    static func isTrouble(_ stage: TransferReport.Stage) -> Bool {
        switch stage {
        case .running, .queued: false
        case .waiting, .heldBack: true
        }
    }
}
