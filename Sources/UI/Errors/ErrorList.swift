import Cache
import Model

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
