import Cache
import Commands
import Model
import Text

/// All that failed, gallery by gallery: in this run, and before it, as far as the caches have kept it.
struct ErrorList: Equatable {
    /// Those of one gallery stand together; what failed last comes first.
    private(set) var rows: [ErrorRow] = []

    /// How many things failed.
    var count: Int { rows.reduce(0) { $0 + $1.count } }

    init() {}

    /// - Parameters:
    ///   - reports: of this run, the newest first.
    ///   - kept: what the caches keep.
    init(_ reports: [FailureReport], kept: [GalleryFailures]) {
        var rows: [GalleryID: [ErrorRow]] = [:]
        var galleries: [GalleryID] = []
        func add(_ row: ErrorRow) {
            if rows[row.gallery] == nil { galleries.append(row.gallery) }
            rows[row.gallery, default: []].append(row)
        }
        for report in reports { add(ErrorRow(report)) }
        // What failed in this run may be kept as well: once is enough.
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
            // Some of those that are not named may stand above as reports.
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

    /// Where a row stands.
    func place(of identity: ErrorRow.Identity?) -> Int? {
        rows.firstIndex { $0.identity == identity }
    }

    /// Whether a row is the first of its gallery.
    func isFirstOfGallery(_ index: Int) -> Bool {
        index == 0 || rows[index].gallery != rows[index - 1].gallery
    }
}

/// A line of the errors screen: something that failed, or many things of one gallery that failed for the same reason.
struct ErrorRow: Equatable {
    /// What it stays, wherever it comes to stand.
    enum Identity: Hashable {
        /// One thing.
        case subject(Wish.Subject)
        /// Those photos that are not named one by one.
        case rest(GalleryID, Rendition, RenditionState.Trouble)
    }

    let identity: Identity
    let failure: Failure
    /// Whether it will not be tried again by itself.
    let isFinal: Bool
    /// What is known of it beyond that, if it failed in this run.
    var report: FailureReport?
    /// The photo, if it is known from the cache.
    var photo: Photo?
    /// How many things it stands for.
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

    /// Why a gallery's last update failed.
    init(_ failure: Failure, of gallery: GalleryID) {
        identity = .subject(.list(gallery))
        self.failure = failure
        isFinal = !failure.isTemporary
    }

    /// A photo of a group.
    init(_ photo: Photo, _ group: TroubleGroup, in gallery: GalleryID) {
        identity = .subject(.picture(gallery, photo.key, group.rendition))
        (failure, isFinal) = Self.meaning(of: group.trouble)
        self.photo = photo
    }

    /// So many more of a group.
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
