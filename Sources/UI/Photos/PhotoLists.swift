import Cache
import Logging
import Model

/// The lists behind the photos screen: all photos of a gallery in some order, and those that a search has found.
///
/// Arranging takes place off the main actor; until it is done, what was there stays. The newest wish counts: an older one
/// that is still being worked on ends.
@MainActor
final class PhotoLists {
    /// What a search is for.
    enum Purpose {
        /// To go from one hit to the next, among all photos.
        case finding
        /// To see the hits alone.
        case filtering
    }

    /// All photos.
    private(set) var all: FetchedResults
    /// Those that were found, if something was searched for.
    private(set) var found: FetchedResults?
    /// What is searched for, found yet or not.
    private(set) var filter = PhotoFilter.all
    private(set) var purpose = Purpose.finding
    /// Whether what was found is shown alone.
    private(set) var isFiltered = false
    private(set) var order: PhotoOrder
    private(set) var sections: SectionRule
    /// Why the last wish could not be done, if that is so.
    private(set) var failure: String?
    private var task: Task<Void, Never>?
    private let cache: GalleryCache
    private let log: Log
    private let feed: UpdateFeed
    private var subscriptions: [ObjectIdentifier: UpdateFeed.Subscription] = [:]

    init(_ cache: GalleryCache, order: PhotoOrder, sections: SectionRule, _ context: ScreenContext) throws {
        (self.cache, self.order, self.sections, log, feed) = (cache, order, sections, context.log, context.feed)
        all = try FetchedResults(of: cache, order: order, sections: sections)
        follow()
    }

    /// What the list on the screen shows. It changes when ``ModelUpdate/lists(_:)`` says so, and not before.
    var shown: FetchedResults { isFiltered ? found ?? all : all }

    /// Whether the hits of what is searched for now are still to come.
    var isSearching: Bool { filter != found?.filter ?? .all }

    /// Searches for something; for nothing, to show everything again.
    func search(_ text: String, for purpose: Purpose) {
        let filter = PhotoFilter(text)
        guard filter != self.filter || purpose != self.purpose else { return }
        self.filter = filter
        self.purpose = purpose
        arrange()
    }

    /// Sorts and divides the lists.
    func sort(by order: PhotoOrder, sections: SectionRule) {
        guard order != self.order || sections != self.sections else { return }
        (self.order, self.sections) = (order, sections)
        arrange()
    }

    /// Nothing is listed any more.
    func close() {
        task?.cancel()
        subscriptions = [:]
    }

    private func arrange() {
        task?.cancel()
        failure = nil
        // Only what is sorted by date is divided.
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

    /// What is there stays, and counts as what was wished for.
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

    /// A list that stays is followed without a break: what comes in between would be lost.
    private func follow() {
        let lists = [all, found].compactMap { $0 }
        let kept = Set(lists.map { ObjectIdentifier($0) })
        subscriptions = subscriptions.filter { kept.contains($0.key) }
        for list in lists where subscriptions[ObjectIdentifier(list)] == nil {
            subscriptions[ObjectIdentifier(list)] = feed.follow(list.differences) { .results(list, $0) }
        }
    }

    /// The hit that comes after a photo, or before it; at the end it goes on at the beginning.
    ///
    /// - Parameter including: whether the photo itself will do.
    func hit(after key: PhotoKey?, backwards: Bool = false, including: Bool = false) -> PhotoKey? {
        guard let found, found.count > 0 else { return nil }
        guard let key else { return found.key(at: 0) }
        let place = found.insertionIndex(of: key)
        let isHit = found.key(at: place) == key
        if isHit, including { return key }
        let next = backwards ? place - 1 : place + (isHit ? 1 : 0)
        return found.key(at: (next + found.count) % found.count)
    }
}

extension Difference {
    /// Whether photos may have gone.
    var removes: Bool {
        switch self {
        case .reset: true
        case .rows(let rows): !rows.deleted.isEmpty
        }
    }

    /// Where the row stands now that followed a row which is gone.
    ///
    /// If none of those that followed it is left, the same place is as good as any.
    ///
    /// - Parameters:
    ///   - row: the place of the one that is gone, in the old list.
    ///   - count: the length of the new list.
    func placeFollowing(_ row: Int, count: Int) -> Int {
        guard case .rows(let rows) = self else { return row }
        let leftBefore = (rows.deleted + rows.moved.map(\.from)).filter { $0 < row }.count
        // Counted among the rows that stayed; each that came in at or before it moves it down by one.
        var place = row - leftBefore
        for new in (rows.inserted + rows.moved.map(\.to)).sorted() where new <= place { place += 1 }
        return place < count ? place : row
    }
}
