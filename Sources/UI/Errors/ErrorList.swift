import Cache
import Commands
import Model
import Text

/// All failures by gallery: failures of this run, and earlier failures from the caches.
struct ErrorList: Equatable {
    /// The rows, grouped by gallery. In each gallery, the latest failures come first.
    private(set) var rows: [ErrorRow] = []

    /// The number of failures.
    var count: Int { rows.reduce(0) { $0 + $1.count } }

    init() {}

    /// Creates the list from the failures of this run and the failures in the caches.
    ///
    /// - Parameters:
    ///   - reports: the failures of this run, newest first.
    ///   - kept: the failures in the caches.
    init(_ reports: [FailureReport], kept: [GalleryFailures]) {
        var rows: [GalleryID: [ErrorRow]] = [:]
        var galleries: [GalleryID] = []
        func add(_ row: ErrorRow) {
            if rows[row.gallery] == nil { galleries.append(row.gallery) }
            rows[row.gallery, default: []].append(row)
        }
        for report in reports { add(ErrorRow(report)) }
        // A failure of this run may be in the cache too. List it once.
        let known = Set(reports.map(\.subject))
        for failures in kept {
            let gallery = GalleryID(failures.record.address)
            if let failure = failures.record.failure, !known.contains(.list(gallery)) {
                add(ErrorRow(failure, of: gallery))
            }
            for group in failures.troubles { Self.rows(of: group, in: gallery, known).forEach(add) }
        }
        self.rows = galleries.flatMap { rows[$0] ?? [] }
    }

    private static func rows(
        of group: TroubleGroup, in gallery: GalleryID, _ known: Set<Wish.Subject>
    ) -> [ErrorRow] {
        let named = group.photos.map { ErrorRow($0, group, in: gallery) }
        var rest = group.count - named.count
        if rest > 0 {
            // Reports of this run may already list some of the other photos.
            let keys = Set(group.photos.map(\.key))
            rest -= known.count {
                guard case .picture(gallery, let key, group.rendition) = $0 else { return false }
                return !keys.contains(key)
            }
        }
        let others = named.filter { row in
            if case .subject(let subject) = row.identity { !known.contains(subject) } else { true }
        }
        return others + (rest > 0 ? [ErrorRow(rest, moreOf: group, in: gallery)] : [])
    }

    /// Returns the index of the row with this identity, if the list has it.
    func index(of identity: ErrorRow.Identity?) -> Int? {
        rows.firstIndex { $0.identity == identity }
    }

    /// Returns whether a row is the first of its gallery.
    func isFirstOfGallery(_ index: Int) -> Bool {
        index == 0 || rows[index].gallery != rows[index - 1].gallery
    }
}

/// A row of the errors screen: one failure, or several with the same reason.
struct ErrorRow: Equatable {
    /// Identifies a row, even if its index changes.
    enum Identity: Hashable {
        /// The row of one failed subject, such as a list, photo or thumbnail.
        case subject(Wish.Subject)
        /// The row of all photos that failed for one reason and have no rows of their own.
        case rest(GalleryID, Rendition, RenditionState.Trouble)
    }

    let identity: Identity
    let failure: Failure
    /// Whether Vitrine plans no retry, apart from the next automatic update of a list.
    let isFinal: Bool
    /// The report of the failure, if it happened in this run.
    var report: FailureReport?
    /// The photo that failed, if the cache has its entry.
    var photo: Photo?
    /// The number of failures that the row stands for.
    var count = 1

    var gallery: GalleryID {
        switch identity {
        case .subject(let subject): subject.gallery
        case .rest(let gallery, _, _): gallery
        }
    }

    init(_ report: FailureReport) {
        identity = .subject(report.subject)
        failure = report.failure
        isFinal = report.next == nil && !report.failure.isTemporary
        self.report = report
    }

    /// Creates the row of a failed update.
    init(_ failure: Failure, of gallery: GalleryID) {
        identity = .subject(.list(gallery))
        self.failure = failure
        isFinal = !failure.isTemporary
    }

    /// Creates the row of one photo from a group with one failure reason.
    init(_ photo: Photo, _ group: TroubleGroup, in gallery: GalleryID) {
        identity = .subject(.picture(gallery, photo.key, group.rendition))
        (failure, isFinal) = Self.meaning(of: group.trouble)
        self.photo = photo
    }

    /// Creates the row that stands for the other photos of a group.
    init(_ count: Int, moreOf group: TroubleGroup, in gallery: GalleryID) {
        identity = .rest(gallery, group.rendition, group.trouble)
        (failure, isFinal) = Self.meaning(of: group.trouble)
        self.count = count
    }

    private static func meaning(of trouble: RenditionState.Trouble) -> (failure: Failure, isFinal: Bool) {
        switch trouble {
        case .putOff(let failure): (failure, false)
        case .bad(let failure): (failure, true)
        }
    }
}

/// Texts about a failure, besides its reason.
enum ErrorText {
    /// Returns the time of the last attempt, as text.
    static func time(_ row: ErrorRow, now: Timestamp) -> String {
        guard let report = row.report else { return "earlier" }
        let text = DateText.clock(report.last, now: now)
        // On another day the date is enough.
        return String(text.prefix { $0 != " " })
    }

    static func attempts(_ row: ErrorRow) -> String {
        row.report.map { "\($0.attempts)×" } ?? ""
    }

    /// Returns a text with the number of attempts and the times of the first and next attempt.
    ///
    /// - Parameters:
    ///   - update: the time of the next automatic update, for a failed update.
    ///   - isPaused: whether transfers are paused.
    static func history(
        _ row: ErrorRow, now: Timestamp, update: Timestamp? = nil, isPaused: Bool = false
    ) -> String {
        let next = next(row, now, update, isPaused)
        guard let report = row.report else { return "Failed earlier; \(next)" }
        let tried =
            report.attempts > 1
            ? "Tried \(NumberFormat.current.text(report.attempts)) times since \(DateText.clock(report.first, now: now))"
            : "Tried once, at \(DateText.clock(report.last, now: now))"
        return "\(tried); \(next)"
    }

    private static func next(_ row: ErrorRow, _ now: Timestamp, _ update: Timestamp?, _ isPaused: Bool) -> String {
        let next = row.report?.next
        guard let due = next ?? update else {
            return row.isFinal ? "no automatic retry" : "retries automatically"
        }
        if isPaused { return "paused, will retry later" }
        guard due > now else { return "queued for a retry" }
        return "will retry \(next == nil ? "with the update " : "")at \(DateText.clock(due, now: now))"
    }

    /// Returns the text for status lines with the number of errors; nil without errors.
    static func badge(_ count: Int, _ keys: KeyMap) -> String? {
        guard count > 0 else { return nil }
        let number = count < 1_000 ? CountText.text(count, "error") : "over \(CountText.text(999, "error"))"
        return keys.key(for: .errors, in: [.everywhere]).map { "\(number): \($0)" } ?? number
    }
}
