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
    static func history(_ row: ErrorRow, now: Timestamp) -> String {
        guard let report = row.report else { return "Failed earlier; \(next(row, now))" }
        let tried =
            report.attempts > 1
            ? "Tried \(CountText.text(report.attempts, "time")) since \(DateText.clock(report.first, now: now))"
            : "Tried once, at \(DateText.clock(report.last, now: now))"
        return "\(tried); \(next(row, now))"
    }

    private static func next(_ row: ErrorRow, _ now: Timestamp) -> String {
        if let next = row.report?.next { return "again at \(DateText.clock(next, now: now))" }
        return row.isFinal ? "not again by itself" : "again by itself when it is wanted"
    }

    /// For status lines; nil where nothing failed.
    static func badge(_ count: Int, _ keys: KeyMap) -> String? {
        guard count > 0 else { return nil }
        let number = count < 1_000 ? CountText.text(count, "error") : "over \(CountText.text(999, "error"))"
        return keys.key(for: .errors, in: [.everywhere]).map { "\(number): \($0)" } ?? number
    }
}
