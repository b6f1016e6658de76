import Model
import SQLite
import Streams

/// A list of a gallery's photos that stays true: what a screen holds.
///
/// It keeps numbers and sort keys, sixteen bytes a photo, and fetches the rows of the window that is drawn. When commits
/// change the list it works out the difference, and nothing changes here before the difference is taken:
///
///     let results = try FetchedResults(of: cache, order: PhotoOrder(.date))
///     draw(try results.photos(in: 0..<20))
///     for await difference in results.differences { … }
///
/// However many commits there were between two turns of the loop, they make one difference. A result that nobody listens
/// to computes nothing. One listener a result.
@MainActor
public final class FetchedResults {
    /// Up to this many photos are there at once. Of more, this many are, and the rest follow as a reset: a first
    /// window never waits for a million numbers.
    static let firstLoad = 4_096

    /// The gallery's cache.
    public let cache: GalleryCache
    /// What the list is sorted by.
    public let order: PhotoOrder
    /// What is listed.
    public let filter: PhotoFilter
    /// How it is divided.
    public let sectionRule: SectionRule
    private let query: PhotoQuery
    private let reader: CacheReader
    private let changes: CoalescingStream<ChangeSet>
    private let loader = ResultLoader()
    /// In ascending order, whichever way the list runs.
    private var rows: OrderedRows
    /// The length of the list; more than there are rows until all of them have been read.
    private var knownCount: Int
    private var isComplete: Bool
    private var cachedSections: [PhotoSection]?

    /// Makes a list and reads its beginning.
    public init(
        of cache: GalleryCache, order: PhotoOrder = PhotoOrder(), filter: PhotoFilter = .all,
        sections: SectionRule = .none
    ) throws {
        self.cache = cache
        self.order = order
        self.filter = filter
        sectionRule = order.criterion == .date ? sections : .none
        query = PhotoQuery(order: order, filter: filter)
        reader = try cache.openReader()
        // Before the first read: a commit in between is then announced and found to change nothing.
        changes = cache.changes()
        let (reader, query) = (reader, query)
        rows = try cache.mark.watch { try query.firstRows(Self.firstLoad, reader) }
        isComplete = rows.count < Self.firstLoad
        knownCount =
            isComplete || filter != .all ? rows.count : try cache.mark.watch { try reader.gallery().photoCount }
    }

    /// How many photos the list has.
    public var count: Int { knownCount }

    /// The photos at these places, in order, with one query. A place whose photo has just been deleted, or has not been
    /// read yet, is nil.
    public func photos(in range: Range<Int>) throws -> [Photo?] {
        let keys = range.map { key(at: $0) }
        var photos: [PhotoKey: Photo] = [:]
        let found = try cache.mark.watch { try reader.photos(keys.compactMap { $0 }) }
        for photo in found { photos[photo.key] = photo }
        return keys.map { $0.flatMap { photos[$0] } }
    }

    /// A photo by its key, whether its place is known or not; nil if it is not in the gallery any more.
    public func photo(_ key: PhotoKey) throws -> Photo? {
        try cache.mark.watch { try reader.photos([key]).first }
    }

    /// The photo at a place, by its key; nil beyond what has been read.
    public func key(at index: Int) -> PhotoKey? {
        guard index >= 0, index < rows.count else { return nil }
        return PhotoKey(rows.rows[order.ascending ? index : rows.count - 1 - index])
    }

    /// Where a photo stands, if it is listed.
    public func index(of key: PhotoKey) -> Int? {
        rows.index(of: key.rawValue).map { order.ascending ? $0 : rows.count - 1 - $0 }
    }

    /// The list's sections, from the top down; one that holds everything where there is no division.
    public var sections: [PhotoSection] {
        if let cachedSections { return cachedSections }
        let sections = SectionDivider(rows: rows, rule: sectionRule).sections(ascending: order.ascending)
        cachedSections = sections
        return sections
    }

    /// How the list changes, from here on.
    public var differences: Differences { Differences(results: self) }

    /// Waits until the list is another, makes it so and tells how; nil when the task is cancelled.
    public func nextDifference() async -> Difference? {
        if !isComplete, let reset = await loadAll() { return reset }
        while let touched = await changes.next() {
            switch touched["photo"] {
            case nil: continue
            case .listed(let rows)? where isComplete:
                if let difference = await difference(touching: rows) { return difference }
            case .listed?, .many?:
                if let reset = await loadAll() { return reset }
            }
        }
        return nil
    }

    private func difference(touching touched: Set<Int64>) async -> Difference? {
        guard let keys = try? await loader.keys(of: touched, query, cache) else {
            // What these rows are now is not known, so the next change is a reason to read all of them.
            isComplete = false
            return nil
        }
        let oldCount = rows.count
        let difference = rows.apply(keys)
        guard !difference.isEmpty else { return nil }
        knownCount = rows.count
        cachedSections = nil
        return .rows(order.ascending ? difference : difference.reversed(oldCount: oldCount, newCount: rows.count))
    }

    private func loadAll() async -> Difference? {
        guard let all = try? await loader.rows(query, cache) else { return nil }
        rows = all
        knownCount = all.count
        isComplete = true
        cachedSections = nil
        return .reset
    }
}
