import Model

/// What failed in this run and has not succeeded since, the newest first.
struct FailureList {
    /// How many are kept. Beyond it the oldest go.
    static let maximumCount = 1_000

    /// The newest last: that is where they come.
    private var reports: [FailureReport] = []
    /// What they are on. It is asked for each thing that comes, and nearly nothing of that is among them.
    private var subjects: Set<Wish.Subject> = []

    /// The newest first.
    var newestFirst: [FailureReport] { reports.reversed() }
    var count: Int { reports.count }

    /// Puts one in the first place. When it failed first stays as it was, but for a first attempt: that is another story.
    mutating func note(_ report: FailureReport) {
        var report = report
        if let place = place(of: report.subject) {
            let earlier = reports.remove(at: place)
            if report.attempts > 1 { report.first = min(report.first, earlier.first) }
        }
        reports.append(report)
        subjects.insert(report.subject)
        if reports.count > Self.maximumCount { subjects.remove(reports.removeFirst().subject) }
    }

    /// Takes one out. Returns whether it was there.
    mutating func remove(_ subject: Wish.Subject) -> Bool {
        guard let place = place(of: subject) else { return false }
        reports.remove(at: place)
        subjects.remove(subject)
        return true
    }

    /// Takes out all of a gallery. Returns whether there were any.
    mutating func remove(of gallery: GalleryID) -> Bool {
        let count = reports.count
        reports.removeAll { $0.subject.gallery == gallery }
        subjects = subjects.filter { $0.gallery != gallery }
        return reports.count != count
    }

    /// Notes that one is not tried again by itself. Returns whether it would have been.
    mutating func noteUnwanted(_ subject: Wish.Subject) -> Bool {
        guard let place = place(of: subject), reports[place].next != nil else { return false }
        reports[place].next = nil
        return true
    }

    private func place(of subject: Wish.Subject) -> Int? {
        subjects.contains(subject) ? reports.lastIndex { $0.subject == subject } : nil
    }
}
