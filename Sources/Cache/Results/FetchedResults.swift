import Concurrency
import Model
import SQLite

/// A live, ordered list of a gallery's photos that follows the cache's changes.
///
///     let results = try FetchedResults(of: cache, order: PhotoOrder(.date))
///     draw(try results.photos(in: 0..<20))
///     for await difference in results.differences { … }
///
/// The list holds row numbers and sort keys, about ten bytes per photo, and reads whole rows for the visible window. It
/// changes only when its listener requests the next difference. All commits between two requests arrive as one
/// difference. Without a listener the list computes nothing; it supports one listener.
///
/// ``arranged(_:filter:sections:)`` returns a list in another order or with a filter.
@MainActor
public final class FetchedResults {
    /// The number of photos to load before the first frame.
    ///
    /// The first frame must not wait for a million photos. After loading the other photos, the list reports
    /// ``Difference/reset``.
    static let firstLoad = 1_024
    /// The maximum number of changed photos that the list applies one by one. More changes cause a reload off the main
    /// actor.
    private static let mostChanges = 4_096

    /// The gallery's cache.
    public let cache: GalleryCache
    /// The sort order of the list.
    public let order: PhotoOrder
    /// The filter that selects the photos of the list.
    public let filter: PhotoFilter
    /// The rule that divides the list into sections.
    public let sectionRule: SectionRule
    private let query: PhotoQuery
    /// The reader for rows on the main actor. Lists derived from this list share the reader.
    let reader: CacheReader
    private let changes: CoalescingStream<ChangeSet>
    private let loader = ResultLoader()
    /// The loaded rows in ascending order, even if the list is descending.
    private(set) var rows: OrderedRows
    /// The length of the list; larger than `rows.count` until all rows are loaded.
    private var knownCount: Int
    /// Whether all rows are loaded.
    public private(set) var isComplete: Bool

    /// Whether a new list in this order reads few rows.
    ///
    /// This is the case if the gallery is small, or the database has an index for the order. Otherwise, create a list
    /// in an order with an index, and then call ``arranged(_:filter:sections:)``.
    public static func loadsFast(_ order: PhotoOrder, _ reader: CacheReader, _ cache: GalleryCache) throws -> Bool {
        try cache.mark.watch {
            try PhotoQuery(order: order, filter: .all).isIndexed || reader.gallery().photoCount < firstLoad
        }
    }

    /// Creates a list of all photos of a gallery and loads its beginning.
    public convenience init(
        of cache: GalleryCache, order: PhotoOrder = PhotoOrder(), sections: SectionRule = .none
    ) throws {
        // The subscription comes before the first read, so that no commit is missed.
        let changes = cache.changes()
        let reader = try cache.openReader()
        let query = PhotoQuery(order: order, filter: .all, isByFolder: sections == .folder)
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
        // The count in the database may be out of date.
        self.knownCount = max(knownCount, rows.count)
        sectionRule = sections.applied(to: order)
    }

    /// Returns another list of the gallery, with its own order, filter and sections.
    ///
    /// Searching, and sorting without an index, happen off the main actor and end as soon as the task is cancelled. If
    /// this list has the same order, the new list reuses its rows.
    public func arranged(
        _ order: PhotoOrder, filter: PhotoFilter = .all, sections: SectionRule = .none
    ) async throws -> FetchedResults {
        let query = PhotoQuery(order: order, filter: filter, isByFolder: sections == .folder)
        let hasOrder = isComplete && query.canFilter(self.query)
        if query.isIndexed, !hasOrder { return try FetchedResults(of: cache, order: order, sections: sections) }
        let changes = cache.changes()
        // The rows of this list do not contain its pending changes, so the new list needs them too.
        let missed = self.changes.unfinished
        let rows = try await loader.rows(query, cache, outOf: hasOrder ? self.rows : nil)
        if hasOrder, let missed { changes.send(missed) }
        try Task.checkCancellation()
        return FetchedResults(
            cache, query, sections, reader, changes, rows, knownCount: rows.count, isComplete: true)
    }

    /// The number of photos in the list.
    public var count: Int { knownCount }

    /// Returns the photos at these indices, read in one query. A deleted or unloaded photo is nil.
    public func photos(in range: Range<Int>) throws -> [Photo?] {
        try photos(range.map { key(at: $0) })
    }

    /// Returns the photos with these keys, read in one query. A deleted photo is nil.
    public func photos(_ keys: [PhotoKey?]) throws -> [Photo?] {
        var photos: [PhotoKey: Photo] = [:]
        let found = try cache.mark.watch { try reader.photos(keys.compactMap { $0 }) }
        for photo in found { photos[photo.key] = photo }
        return keys.map { $0.flatMap { photos[$0] } }
    }

    /// Returns a photo by its key. Returns nil if the gallery no longer has it.
    public func photo(_ key: PhotoKey) throws -> Photo? {
        try cache.mark.watch { try reader.photos([key]).first }
    }

    /// Returns the key of the photo at an index. Returns nil if the row is not loaded.
    public func key(at index: Int) -> PhotoKey? {
        guard index >= 0, index < rows.count else { return nil }
        return PhotoKey(rows[query.isReversed ? rows.count - 1 - index : index])
    }

    /// Returns the index of a photo. Returns nil if the list does not contain it.
    public func index(of key: PhotoKey) -> Int? {
        rows.index(of: key.rawValue).map { query.isReversed ? rows.count - 1 - $0 : $0 }
    }

    /// Returns the section of the photo at an index. Returns nil without sections.
    public func section(at index: Int) -> PhotoSection? {
        let divider = SectionDivider(rows: rows, rule: sectionRule)
        guard let section = divider.section(at: query.isReversed ? rows.count - 1 - index : index) else { return nil }
        guard query.isReversed else { return section }
        let range = rows.count - section.range.upperBound..<rows.count - section.range.lowerBound
        return PhotoSection(name: section.name, range: range)
    }

    /// Returns the index where a photo of the gallery would be inserted in this order.
    ///
    /// For a photo that the filter excludes, this is the index of the next match.
    public func insertionIndex(of key: PhotoKey) -> Int {
        let index = rows.insertionIndex(of: key.rawValue)
        if !query.isReversed { return index }
        let isListed = index < rows.count && rows[index] == key.rawValue
        return rows.count - index - (isListed ? 1 : 0)
    }

    /// Returns the index from which to count steps away from a photo.
    ///
    /// For a photo that the filter excludes, this is the index of the match behind the photo, so that the first step
    /// leads to the match ahead. The index can be one before the list or one after it. Returns nil if the list does not
    /// contain the photo and has not loaded all rows.
    ///
    /// - Parameter step: a positive number to step forwards, a negative number to step backwards.
    public func stepOrigin(of key: PhotoKey, by step: Int) -> Int? {
        if let index = index(of: key) { return index }
        guard isComplete else { return nil }
        return insertionIndex(of: key) - (step > 0 ? 1 : 0)
    }

    /// The sequence of the list's changes from now on.
    public var differences: Differences { Differences(results: self) }

    /// Waits for a change, applies it and returns the difference. Returns nil on cancellation.
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

    /// Returns the changed rows that may affect the list. With a search filter, changes of metadata count, too.
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
            // The new state of these rows is unknown, so the next change reloads all rows.
            isComplete = false
            return nil
        }
        let oldCount = rows.count
        let difference = rows.apply(keys)
        guard !difference.isEmpty else { return nil }
        knownCount = rows.count
        return .rows(query.isReversed ? difference.reversed(oldCount: oldCount, newCount: rows.count) : difference)
    }

    private func loadAll() async -> Difference? {
        guard let all = try? await loader.rows(query, cache) else {
            // Later changes do not contain this one, so the next change reloads all rows.
            isComplete = false
            return nil
        }
        rows = all
        knownCount = all.count
        isComplete = true
        return .reset
    }
}

/// A change of a list of photos.
public enum Difference: Equatable, Sendable {
    /// The whole list may have changed. The listener must read all visible rows again.
    case reset
    /// These rows changed.
    case rows(RowDifference)
}

extension FetchedResults {
    /// The changes of a list, as a sequence. The list applies each change when it returns the difference.
    public struct Differences: AsyncSequence, Sendable {
        let results: FetchedResults

        /// Creates an iterator that continues where the last listener stopped.
        public func makeAsyncIterator() -> Iterator {
            Iterator(results: results)
        }

        /// The iterator over a list's differences.
        public struct Iterator: AsyncIteratorProtocol {
            let results: FetchedResults

            /// Waits for the next difference. Returns nil on cancellation.
            public mutating func next() async -> Difference? {
                await results.nextDifference()
            }
        }
    }
}

/// The folders of the gallery.
extension FetchedResults {
    /// Returns the folders directly in a folder, in natural order. The method reads off the main actor.
    ///
    /// - Parameter known: the folders of an earlier call, whose covers stay.
    public func subfolders(of folder: FolderPath, keeping known: [Subfolder] = []) async throws -> [Subfolder] {
        try await loader.subfolders(of: folder, keeping: known, cache)
    }

    /// Returns the folders directly in a folder after changes. The method reads off the main actor.
    ///
    /// - Parameter known: the folders before the changes.
    public func subfolders(
        of folder: FolderPath, after changes: SubfolderChanges, of known: [Subfolder]
    ) async throws -> [Subfolder] {
        try await loader.subfolders(of: folder, after: changes, of: known, cache)
    }
}

/// Sets of photos in the list.
extension FetchedResults {
    /// Returns the photos in a range of indices. This method visits each photo, so use it for a screen or two.
    public func keys(in range: Range<Int>) -> KeySet {
        rows.keys(in: ascending(range))
    }

    /// Returns the photos in a range of any length. The method visits the photos off the main actor.
    public func allKeys(in range: Range<Int>) async -> KeySet {
        await Self.keys(rows, ascending(range))
    }

    /// Returns the photos in folders and in all folders below. The method reads each key, so use it for few photos.
    public func keys(below folders: [FolderPath]) throws -> KeySet {
        try cache.mark.watch { try reader.keys(below: folders) }
    }

    /// Returns the photos in folders and in all folders below. The method reads off the main actor.
    public func allKeys(below folders: [FolderPath]) async throws -> KeySet {
        try await loader.keys(below: folders, cache)
    }

    @concurrent private nonisolated static func keys(_ rows: OrderedRows, _ range: Range<Int>) async -> KeySet {
        rows.keys(in: range)
    }

    /// Returns photos in the order of this list, without photos that the list lacks. The method visits each row once.
    public func ordered(_ photos: KeySet) -> [PhotoKey] {
        rows.members(of: photos, isReversed: query.isReversed).map { PhotoKey($0) }
    }

    /// Converts a range of the list to a range of the ascending rows.
    private func ascending(_ range: Range<Int>) -> Range<Int> {
        let range = range.clamped(to: 0..<rows.count)
        return query.isReversed ? rows.count - range.upperBound..<rows.count - range.lowerBound : range
    }
}

/// Runs slow queries off the main actor, one at a time. Cancelling the task interrupts a query.
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

    func subfolders(
        of folder: FolderPath, keeping known: [Subfolder], _ cache: GalleryCache
    ) throws -> [Subfolder] {
        try read(cache) { try $0.subfolders(of: folder, keeping: known) }
    }

    func subfolders(
        of folder: FolderPath, after changes: SubfolderChanges, of known: [Subfolder], _ cache: GalleryCache
    ) throws -> [Subfolder] {
        try read(cache) { try $0.subfolders(of: folder, after: changes, of: known) }
    }

    func keys(below folders: [FolderPath], _ cache: GalleryCache) throws -> KeySet {
        try read(cache) { try $0.keys(below: folders) }
    }

    private func read<Result>(_ cache: GalleryCache, _ body: (CacheReader) throws -> Result) throws -> Result {
        try Task.checkCancellation()
        return try cache.read { reader in
            try reader.connection.interrupting(when: { Task.isCancelled }) { try body(reader) }
        }
    }
}
