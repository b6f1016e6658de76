import Concurrency
import Model

/// The failures of this run without a later success.
struct FailureList {
    /// The maximum number of failures. Older failures are dropped.
    static let maximumCount = 1_000

    /// The reports in the order of their last failures, the newest last.
    private var reports: [FailureReport] = []
    /// The subjects of all reports, for a fast check. Most subjects that succeed have no report.
    private var subjects: Set<Wish.Subject> = []
    /// The times of the last failures in the reports that the user has cleared.
    private var cleared: [Wish.Subject: Timestamp] = [:]

    /// The reports, the newest first.
    var newestFirst: [FailureReport] { reports.reversed() }
    var count: Int { reports.count }

    /// The report of a subject; nil if there is none.
    subscript(subject: Wish.Subject) -> FailureReport? { index(of: subject).map { reports[$0] } }

    /// Adds a report. A report about a second or later attempt keeps the time of the first failure.
    ///
    /// Reports from another process may arrive in any order. That process keeps the reports that the user has cleared
    /// here, and may send them again, so the method ignores them.
    mutating func add(_ report: FailureReport) {
        guard cleared[report.subject] != report.last else { return }
        cleared[report.subject] = nil
        var report = report
        if let index = index(of: report.subject) {
            let earlier = reports.remove(at: index)
            if report.attempts > 1 { report.first = min(report.first, earlier.first) }
        }
        let place = reports.lastIndex { $0.last <= report.last }.map { $0 + 1 } ?? 0
        reports.insert(report, at: place)
        subjects.insert(report.subject)
        if reports.count > Self.maximumCount { subjects.remove(reports.removeFirst().subject) }
    }

    /// Removes the report of a subject. Returns whether there was a report.
    mutating func remove(_ subject: Wish.Subject) -> Bool {
        guard let index = index(of: subject) else { return false }
        reports.remove(at: index)
        subjects.remove(subject)
        return true
    }

    /// Clears all reports of a gallery; nil for all galleries. Returns whether there were any.
    mutating func clear(of gallery: GalleryID? = nil) -> Bool {
        let count = reports.count
        for report in reports where gallery.map({ $0 == report.subject.gallery }) ?? true {
            cleared[report.subject] = report.last
            subjects.remove(report.subject)
        }
        reports = reports.filter { subjects.contains($0.subject) }
        // The other process keeps only its newest reports, too.
        let excess = max(0, cleared.count - Self.maximumCount)
        for (subject, _) in cleared.sorted(by: { $0.value < $1.value }).prefix(excess) { cleared[subject] = nil }
        return reports.count != count
    }

    /// Records when a subject will be retried; nil for never. Returns whether another time was planned.
    mutating func setRetry(of subject: Wish.Subject, at time: Timestamp?) -> Bool {
        guard let index = index(of: subject), reports[index].next != time else { return false }
        reports[index].next = time
        return true
    }

    private func index(of subject: Wish.Subject) -> Int? {
        subjects.contains(subject) ? reports.lastIndex { $0.subject == subject } : nil
    }
}

/// The failures of requests, with the times of their retries.
public struct RetryWatch: Sendable {
    private let activity: Activity
    private let now: @Sendable () -> Timestamp

    /// The number of seconds from now beyond which an attempt is far away.
    private static let patience = 60.0
    /// The same number after the first failure.
    private static let firstPatience = 600.0

    /// Creates a watch.
    ///
    /// - Parameter now: returns the current time.
    public init(_ activity: Activity, now: @escaping @Sendable () -> Timestamp) {
        (self.activity, self.now) = (activity, now)
    }

    /// Returns the failure of a subject. Returns nil if the subject has not failed, or has succeeded since.
    public func failure(of subject: Wish.Subject) -> FailureReport? { activity.failureReport(of: subject) }

    /// Returns whether a request has failed since, and its next attempt is far away.
    ///
    /// Without a network, no attempt counts as far away, because requests start as soon as the network is back.
    public func isFarAway(_ subject: Wish.Subject, after former: FailureReport?) -> Bool {
        guard let report = failure(of: subject), report.failure.remedy == .time, report.last != former?.last else {
            return false
        }
        // After the first failure, only the server's Retry-After makes the wait longer than a second.
        let patience = report.attempts > 1 ? Self.patience : Self.firstPatience
        // If the disk fails, the request waits for the user. A fetcher that ends leaves no time either.
        return report.next.map { $0 > now().advanced(by: patience) } ?? activity.hasStorageTrouble
    }

    /// Calls `body` after each change of failures, until the result is released.
    public func relay(_ body: @escaping @Sendable () -> Void) -> Relay<Activity.Change> {
        activity.relayChanges { if $0.hasFailures { body() } }
    }
}

/// A problem of the disk that affects all data in the cache. The interface shows each problem once.
public enum StorageTrouble: UInt8, Hashable, Sendable, CaseIterable {
    /// The disk is full.
    case full
    /// The file system is read-only.
    case readOnly
    /// Writing to the disk fails.
    case failing
    /// A folder of the cache was removed while Vitrine used it.
    case missing
    /// The user lacks the permission to write the cache.
    case forbidden

    /// The problem as a short phrase without a full stop.
    public var reason: String {
        switch self {
        case .full: "the disk is full"
        case .readOnly: "the cache is read-only"
        case .failing: "the disk reports errors"
        case .missing: "a folder of the cache is missing"
        case .forbidden: "the cache cannot be written (permission denied)"
        }
    }

    /// The sentence that the interface shows to the user.
    public var notice: String {
        switch self {
        case .full: "The disk is full: nothing new can be stored."
        case .readOnly: "The cache is read-only: nothing new can be stored."
        case .failing: "The disk reports errors: nothing new can be stored. The log says more."
        case .missing: "A folder of the cache is missing: nothing new can be stored until you restart Vitrine."
        case .forbidden: "The cache cannot be written (permission denied): nothing new can be stored."
        }
    }
}
