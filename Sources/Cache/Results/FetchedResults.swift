import Concurrency
import Model
import SQLite

/// A list of a gallery's photos that stays true: what a screen holds.
///
/// It keeps numbers and sort keys, some thirteen bytes a photo, and fetches the rows of the window that is drawn. When commits
/// change the list it works out the difference, and nothing changes here before the difference is taken:
///
///     let results = try FetchedResults(of: cache, order: PhotoOrder(.date))
///     draw(try results.photos(in: 0..<20))
///     for await difference in results.differences { … }
///
/// However many commits there were between two turns of the loop, they make one difference. A result that nobody listens
/// to computes nothing. One listener a result.
///
/// What is searched, or sorted by something else, is another list, made out of this one: ``arranged(_:filter:sections:)``.
@MainActor
public final class FetchedResults {
    /// Up to this many photos are there at once. Of more, this many are, and the rest follow as a reset: a first
    /// window never waits for a million numbers.
    static let firstLoad = 1_024
    /// Beyond this many photos that changed at once, the list is read anew, off the main actor.
    private static let mostChanges = 4_096

    /// The gallery's cache.
    public let cache: GalleryCache
    /// What the list is sorted by.
    public let order: PhotoOrder
    /// What is listed.
    public let filter: PhotoFilter
    /// How it is divided.
    public let sectionRule: SectionRule
    private let query: PhotoQuery
    /// Shared with the lists that are made out of this one: all of them are asked on the main actor.
    let reader: CacheReader
    private let changes: CoalescingStream<ChangeSet>
    private let loader = ResultLoader()
    /// In ascending order, whichever way the list runs.
    private(set) var rows: OrderedRows
    /// The length of the list; more than there are rows until all of them have been read.
    private var knownCount: Int
    /// Whether all of its photos are known: of a long list the beginning is there at once, and the rest follows.
    public private(set) var isComplete: Bool

    /// Makes a list of all photos, by date or by name, and reads its beginning.
    public convenience init(
        of cache: GalleryCache, order: PhotoOrder = PhotoOrder(), sections: SectionRule = .none
    ) throws {
        // Before the first read: a commit in between is then announced and found to change nothing.
        let changes = cache.changes()
        let reader = try cache.openReader()
        let query = PhotoQuery(order: order, filter: .all)
        let rows = try cache.mark.watch {
            query.isIndexed ? try query.firstRows(Self.firstLoad, reader) : try query.rows(reader)
        }
        let isComplete = !query.isIndexed || rows.count < Self.firstLoad
        let count = isComplete ? rows.count : try cache.mark.watch { try reader.gallery().photoCount }
        self.init(cache, query, sections, reader, changes, rows, knownCount: count, isComplete: isComplete)
    }

    private init(
        _ cache: GalleryCache, _ query: PhotoQuery, _ sections: SectionRule, _ reader: CacheReader,
        _ changes: CoalescingStream<ChangeSet>, _ rows: OrderedRows, knownCount: Int, isComplete: Bool
    ) {
        (self.cache, self.query, self.reader, self.changes, self.rows) = (cache, query, reader, changes, rows)
        (order, filter, self.isComplete) = (query.order, query.filter, isComplete)
        // Not all of them are counted yet, maybe, but so many there are.
        self.knownCount = max(knownCount, rows.count)
        sectionRule = order.criterion == .date ? sections : .none
    }

    /// Makes another list of the same gallery: in another order, of fewer photos, divided in another way.
    ///
    /// It is searched, and sorted where no index has the order, off the main actor; when the task is cancelled, as by
    /// whoever has typed another letter, that ends at once. Where this list has the order already, its rows are used.
    public func arranged(
        _ order: PhotoOrder, filter: PhotoFilter = .all, sections: SectionRule = .none
    ) async throws -> FetchedResults {
        let query = PhotoQuery(order: order, filter: filter)
        let hasOrder = isComplete && self.filter == .all && order.criterion == self.order.criterion
        if query.isIndexed, !hasOrder { return try FetchedResults(of: cache, order: order, sections: sections) }
        let changes = cache.changes()
        // What this list has not taken in, the other one could not know of.
        let missed = self.changes.unfinished
        let rows = try await loader.rows(query, cache, outOf: hasOrder ? self.rows : nil)
        if hasOrder, let missed { changes.send(missed) }
        try Task.checkCancellation()
        return FetchedResults(
            cache, query, sections, reader, changes, rows, knownCount: rows.count, isComplete: true)
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
        return PhotoKey(rows[order.ascending ? index : rows.count - 1 - index])
    }

    /// Where a photo stands, if it is listed.
    public func index(of key: PhotoKey) -> Int? {
        rows.index(of: key.rawValue).map { order.ascending ? $0 : rows.count - 1 - $0 }
    }

    /// The section that the photo at a place is in; nil where there is no division.
    public func section(at index: Int) -> PhotoSection? {
        let divider = SectionDivider(rows: rows, rule: sectionRule)
        guard let section = divider.section(at: order.ascending ? index : rows.count - 1 - index) else { return nil }
        guard !order.ascending else { return section }
        let range = rows.count - section.range.upperBound..<rows.count - section.range.lowerBound
        return PhotoSection(start: section.start, range: range)
    }

    /// Where a photo of another list of the same order would stand in this one: behind how many of its photos. With it one
    /// finds the next hit.
    public func place(of key: PhotoKey) -> Int {
        let place = rows.insertionIndex(of: key.rawValue)
        if order.ascending { return place }
        let isListed = place < rows.count && rows[place] == key.rawValue
        return rows.count - place - (isListed ? 1 : 0)
    }

    /// How the list changes, from here on.
    public var differences: Differences { Differences(results: self) }

    /// Waits until the list is another, makes it so and tells how; nil when the task is cancelled.
    public func nextDifference() async -> Difference? {
        if !isComplete, let reset = await loadAll() { return reset }
        while let touched = await changes.next() {
            switch rowsOfInterest(touched) {
            case nil: continue
            case .listed(let rows)? where isComplete && rows.count <= Self.mostChanges:
                if let difference = await difference(touching: rows) { return difference }
            case .listed?, .many?:
                if let reset = await loadAll() { return reset }
            }
        }
        return nil
    }

    /// A photo's metadata has its number, and is searched.
    private func rowsOfInterest(_ changes: ChangeSet) -> ChangeSet.Rows? {
        guard filter != .all else { return changes["photo"] }
        return switch (changes["photo"], changes["metadata"]) {
        case (.many, _), (_, .many): .many
        case (.listed(let photos)?, .listed(let metadata)?): .listed(photos.union(metadata))
        case (let rows, nil), (nil, let rows): rows
        }
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
        return .rows(order.ascending ? difference : difference.reversed(oldCount: oldCount, newCount: rows.count))
    }

    private func loadAll() async -> Difference? {
        guard let all = try? await loader.rows(query, cache) else {
            // What it missed is in no later change; so the next one is a reason to read all of them, too.
            isComplete = false
            return nil
        }
        rows = all
        knownCount = all.count
        isComplete = true
        return .reset
    }
}

/// How a list of photos became another.
public enum Difference: Equatable, Sendable {
    /// In no way that is worth telling apart: look at all of it again.
    case reset
    /// Row by row.
    case rows(RowDifference)
}

extension FetchedResults {
    /// The differences of a list, one after the other, each taken into the list as it is handed out.
    public struct Differences: AsyncSequence, Sendable {
        let results: FetchedResults

        /// Goes on where the last listener stopped.
        public func makeAsyncIterator() -> Iterator {
            Iterator(results: results)
        }

        /// Waits for the next difference.
        public struct Iterator: AsyncIteratorProtocol {
            let results: FetchedResults

            /// Waits for the next difference; nil when the task is cancelled.
            public mutating func next() async -> Difference? {
                await results.nextDifference()
            }
        }
    }
}

/// Many photos of a list at once, without their order.
extension FetchedResults {
    /// The photos at these places. To be asked of a screen or two of them: it goes through all.
    public func keys(in places: Range<Int>) -> KeySet {
        rows.keys(in: ascending(places))
    }

    /// The photos at these places as they are now, however many. They are gone through off the main actor.
    public func allKeys(in places: Range<Int>) async -> KeySet {
        await Self.keys(rows, ascending(places))
    }

    @concurrent private nonisolated static func keys(_ rows: OrderedRows, _ places: Range<Int>) async -> KeySet {
        rows.keys(in: places)
    }

    /// Where the places of the list lie among the rows, which ascend.
    private func ascending(_ places: Range<Int>) -> Range<Int> {
        let places = places.clamped(to: 0..<rows.count)
        return order.ascending ? places : rows.count - places.upperBound..<rows.count - places.lowerBound
    }
}

/// Reads for a list what would hold up the main actor. One reading at a time; one that is cancelled ends at once.
private actor ResultLoader {
    private let executor = QueueExecutor(label: "vitrine.cache.results")

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    func rows(_ query: PhotoQuery, _ cache: GalleryCache, outOf all: OrderedRows? = nil) throws -> OrderedRows {
        try read(cache) { try query.rows($0, outOf: all) }
    }

    func keys(
        of rows: Set<Int64>, _ query: PhotoQuery, _ cache: GalleryCache
    ) throws -> sending [RowKey] {
        try read(cache) { try query.keys(of: rows, $0) }
    }

    private func read<Result>(_ cache: GalleryCache, _ body: (CacheReader) throws -> Result) throws -> Result {
        try Task.checkCancellation()
        return try cache.read { reader in
            try reader.connection.interrupting(when: { Task.isCancelled }) { try body(reader) }
        }
    }
}
