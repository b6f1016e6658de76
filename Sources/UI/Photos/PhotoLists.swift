import Cache
import Logging
import Model

/// The photo lists of one gallery: all photos in some order, and the matches of a search.
///
/// Sorting and searching run off the main actor; the current lists stay until the new ones are complete. A new request
/// cancels the previous one.
@MainActor
final class PhotoLists {
    /// Why the user searches.
    enum Purpose {
        /// To go from match to match in the full list.
        case finding
        /// To see only the matches.
        case filtering
    }

    /// The gallery's cache.
    let cache: GalleryCache
    /// Reads single rows of the gallery on the main actor, also for the photo screen.
    let reader: CacheReader
    /// All photos.
    private(set) var all: FetchedResults
    /// The matches of the last complete search.
    private(set) var found: FetchedResults?
    /// The search text, whether or not the search is complete.
    private(set) var filter = PhotoFilter.all
    /// Whether the words find or filter; the status line shows it.
    private(set) var purpose = Purpose.finding
    /// Whether the list shows only the matches.
    private(set) var isFiltered = false
    /// The order of the photos; the sort menu shows it.
    private(set) var order: PhotoOrder
    /// The division into sections; the sort menu shows it.
    private(set) var sections: SectionRule
    /// Why the last request failed, if it did.
    private(set) var failure: String?
    private var task: Task<Void, Never>?
    private let log: Log
    private let feed: UpdateFeed
    private var subscriptions: [ObjectIdentifier: UpdateFeed.Subscription] = [:]

    init(_ cache: GalleryCache, order: PhotoOrder, sections: SectionRule, _ context: ScreenContext) throws {
        (self.cache, self.order, self.sections, log, feed) = (cache, order, sections, context.log, context.feed)
        all = try FetchedResults(of: cache, order: order, sections: sections)
        reader = try cache.openReader()
        follow()
    }

    /// The list on the screen. It changes only with ``ModelUpdate/lists(_:)``.
    var shown: FetchedResults { isFiltered ? found ?? all : all }

    /// Whether the matches of the current search text are still missing.
    var isSearching: Bool { filter != found?.filter ?? .all }

    /// Starts a search; an empty text shows all photos again.
    func search(_ text: String, for purpose: Purpose) {
        let filter = PhotoFilter(text)
        guard filter != self.filter || purpose != self.purpose else { return }
        self.filter = filter
        self.purpose = purpose
        arrange()
    }

    /// Changes the order and the sections of the lists.
    func sort(by order: PhotoOrder, sections: SectionRule) {
        guard order != self.order || sections != self.sections else { return }
        (self.order, self.sections) = (order, sections)
        arrange()
    }

    /// Cancels the request under way, and ends all updates.
    func close() {
        task?.cancel()
        subscriptions = [:]
    }

    private func arrange() {
        task?.cancel()
        failure = nil
        // Sections need date order.
        let sections = order.criterion == .date ? sections : .none
        guard filter != .all || all.order != order || all.sectionRule != sections else { return adopt(all, nil) }
        task = Task { [all, order, filter, log] in
            do {
                let isArranged = all.order == order && all.sectionRule == sections
                let arranged = isArranged ? all : try await all.arranged(order, sections: sections)
                guard !Task.isCancelled else { return }
                let found =
                    filter == .all ? nil : try await arranged.arranged(order, filter: filter, sections: sections)
                if !Task.isCancelled { self.adopt(arranged, found) }
            } catch is CancellationError {
            } catch {
                guard !Task.isCancelled else { return }
                log.error(.cache, "\(error)")
                self.giveUp(error)
            }
        }
    }

    /// Keeps the current lists, and resets the request to match them.
    private func giveUp(_ error: any Error) {
        (filter, order) = (found?.filter ?? .all, all.order)
        failure = "\(error)"
        feed.deliver(.lists(self))
    }

    private func adopt(_ all: FetchedResults, _ found: FetchedResults?) {
        guard all !== self.all || found !== self.found else { return }
        (self.all, self.found, isFiltered) = (all, found, found != nil && purpose == .filtering)
        follow()
        feed.deliver(.lists(self))
    }

    /// Subscribes to new lists. Existing subscriptions continue, because a gap would lose differences.
    private func follow() {
        let lists = [all, found].compactMap { $0 }
        let kept = Set(lists.map { ObjectIdentifier($0) })
        subscriptions = subscriptions.filter { kept.contains($0.key) }
        for list in lists where subscriptions[ObjectIdentifier(list)] == nil {
            subscriptions[ObjectIdentifier(list)] = feed.follow(list.differences) { .results(list, $0) }
        }
    }

    /// Returns the match after or before a photo, wrapping around at the ends.
    ///
    /// - Parameter including: whether the photo itself may be returned.
    func match(after key: PhotoKey?, backwards: Bool = false, including: Bool = false) -> PhotoKey? {
        guard let found, found.count > 0 else { return nil }
        guard let key else { return found.key(at: 0) }
        let index = found.insertionIndex(of: key)
        let isMatch = found.key(at: index) == key
        if isMatch, including { return key }
        let next = backwards ? index - 1 : index + (isMatch ? 1 : 0)
        return found.key(at: (next + found.count) % found.count)
    }
}

extension Difference {
    /// Whether photos may have left the list.
    var mayRemovePhotos: Bool {
        switch self {
        case .reset: true
        case .rows(let rows): !rows.deleted.isEmpty
        }
    }

    /// Returns the new index of the row that followed a deleted row.
    ///
    /// If no later row is left, returns the old index.
    ///
    /// - Parameters:
    ///   - row: the index of the deleted row in the old list.
    ///   - count: the length of the new list.
    func indexFollowing(_ row: Int, count: Int) -> Int {
        guard case .rows(let rows) = self else { return row }
        let removedBefore = (rows.deleted + rows.moved.map(\.from)).filter { $0 < row }.count
        // Starts among the rows that stayed; each row inserted at or before the index moves it down.
        var index = row - removedBefore
        for new in (rows.inserted + rows.moved.map(\.to)).sorted() where new <= index { index += 1 }
        return index < count ? index : row
    }
}
