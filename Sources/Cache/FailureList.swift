import Model

/// What failed in this run and has not succeeded since, the newest first.
struct FailureList {
    /// How many are kept. Beyond it the oldest go.
    static let maximumCount = 1_000

    /// The newest last: that is where they come.
    private var reports: [FailureReport] = []

    /// The newest first.
    var newestFirst: [FailureReport] { reports.reversed() }
    var count: Int { reports.count }

    /// Puts one in the first place. When it failed first stays as it was.
    mutating func note(_ report: FailureReport) {
        var report = report
        if let place = place(of: report.subject) { report.first = min(report.first, reports.remove(at: place).first) }
        reports.append(report)
        if reports.count > Self.maximumCount { reports.removeFirst() }
    }

    /// Takes one out. Returns whether it was there.
    mutating func remove(_ subject: Wish.Subject) -> Bool {
        guard let place = place(of: subject) else { return false }
        reports.remove(at: place)
        return true
    }

    private func place(of subject: Wish.Subject) -> Int? {
        reports.lastIndex { $0.subject == subject }
    }
}
