import Cache
import Session
import Model

/// Lists and rows that become others.
extension PhotosScreen {
    /// The list is another. What was selected is, if it is in there; while something is typed, the hit next to where one was.
    func followLists() {
        if let failure = lists.failure { return send(.notice(failure)) }
        marks.keepOnly(lists.all)
        scroll.setCount(results.count)
        switch errand {
        case .typing(let origin), .awaitingHit(let origin):
            selection = lists.hit(after: origin, including: true) ?? origin
        case .none, .sorting:
            if lists.isFiltered, let hit = lists.hit(after: selection, including: true) { selection = hit }
        }
        if case .awaitingHit = errand { errand = .none }
        scroll.select(selection.flatMap { results.index(of: $0) } ?? 0)
        // Of a list that is still being read the place is not known yet.
        if results.isComplete, selection.flatMap({ results.index(of: $0) }) == nil {
            selection = results.key(at: scroll.selected)
        }
    }

    func followSelection(_ difference: Difference) {
        // A photo that is gone leaves the selection to the one that follows it.
        let place =
            selection.flatMap { results.index(of: $0) }
            ?? difference.placeFollowing(scroll.selected, count: results.count)
        scroll.setCount(results.count)
        scroll.select(place)
        selection = results.key(at: scroll.selected)
        // There is no getting what the gallery has no more.
        // What has come is not wanted any more either: it would be fetched again as soon as it is deleted.
        if let left, results.index(of: left) == nil || (try? reader.photo(left))?.original.isCurrent != false {
            self.left = nil
        }
    }

    /// What is kept of this gallery, or as much as failed in this run: the cache may be one that cannot be written to.
    func countErrors() {
        let kept = ((try? reader.troubleCount()) ?? 0) + (record.failure == nil ? 0 : 1)
        errorCount = max(kept, context.activity.failures.count { $0.subject.gallery == cache.id })
    }
}
