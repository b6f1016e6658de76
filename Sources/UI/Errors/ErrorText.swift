import Commands
import Model
import Text

/// What is said of something that failed, beside the reason.
enum ErrorText {
    /// When it failed last.
    static func time(_ row: ErrorRow, now: Timestamp) -> String {
        guard let report = row.report else { return "earlier" }
        let text = DateText.clock(report.last, now: now)
        // Of another day the day is enough here.
        return String(text.prefix { $0 != " " })
    }

    static func attempts(_ row: ErrorRow) -> String {
        row.report.map { "\($0.attempts)×" } ?? ""
    }

    /// How often it was tried, since when, and when it is tried next.
    ///
    /// - Parameters:
    ///   - update: when the gallery is updated next by itself, if that is what failed.
    ///   - isPaused: whether nothing is begun, whenever it is due.
    static func history(
        _ row: ErrorRow, now: Timestamp, update: Timestamp? = nil, isPaused: Bool = false
    ) -> String {
        let next = next(row, now, update, isPaused)
        guard let report = row.report else { return "Failed earlier; \(next)" }
        let tried =
            report.attempts > 1
            ? "Tried \(CountText.text(report.attempts, "time")) since \(DateText.clock(report.first, now: now))"
            : "Tried once, at \(DateText.clock(report.last, now: now))"
        return "\(tried); \(next)"
    }

    private static func next(_ row: ErrorRow, _ now: Timestamp, _ update: Timestamp?, _ isPaused: Bool) -> String {
        let next = row.report?.next
        guard let due = next ?? update else {
            return row.isFinal ? "not again by itself" : "again by itself when it is wanted"
        }
        if isPaused { return "again after the pause" }
        guard due > now else { return "again when its turn comes" }
        return "again \(next == nil ? "with the update " : "")at \(DateText.clock(due, now: now))"
    }

    /// For status lines; nil where nothing failed.
    static func badge(_ count: Int, _ keys: KeyMap) -> String? {
        guard count > 0 else { return nil }
        let number = count < 1_000 ? CountText.text(count, "error") : "over \(CountText.text(999, "error"))"
        return keys.key(for: .errors, in: [.everywhere]).map { "\(number): \($0)" } ?? number
    }
}
