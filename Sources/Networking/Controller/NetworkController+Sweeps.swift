import Model
import Session

/// Wishes for every picture of a gallery, served a few at a time.
extension NetworkController {
    /// A sweep does not wait for its gallery's list, nor is it done before that is here: it will bring more to sweep.
    ///
    /// Where the caches have no room for what nobody looks at, sweeps end: what they fetch would take the place of what was
    /// fetched before, for ever.
    func refillSweeps() {
        if context.caches.space.isShort, !sweeps.isEmpty {
            context.log.info(.network, "the caches have no room for pictures that nobody looks at (cache-limit)")
            for gallery in Set(sweeps.values.map(\.gallery)) { endSweeps(of: gallery) }
            return
        }
        var hasChanged = false
        for (subject, sweep) in sweeps {
            guard let cache = context.caches.cache(sweep.gallery) else { continue }
            let before = sweep.underWay
            let left = try? sweeps[subject]?.refill(cache) { [table] in
                if case .waiting = table.state(of: $0) { true } else { false }
            }
            let isListWanted = stated.contains { $0.subject == .list(sweep.gallery) }
            if !isListWanted, left == false { wishes.fulfil(subject) }
            hasChanged = hasChanged || sweeps[subject]?.underWay != before
        }
        if hasChanged { adoptWishes() }
    }

    /// What runs and is not looked at any more goes on for the sweep that would begin it anew later.
    func takeOverWhatRuns(except named: Set<Wish.Subject>) {
        guard !sweeps.isEmpty else { return }
        let known = named.union(sweeps.values.flatMap(\.underWay))
        for subject in operations.values.flatMap(\.served) where !known.contains(subject) {
            for sweep in sweeps.keys { sweeps[sweep]?.takeOver(subject) }
        }
    }

    /// What is fetched for later is not fetched for a disk that does not take it.
    func endSweeps(of gallery: GalleryID) {
        let ended = Set(sweeps.keys.filter { $0.gallery == gallery })
        guard !ended.isEmpty else { return }
        for subject in ended { wishes.fulfil(subject) }
        // And not when that is heard of: until then as many would be fetched as fit into the time.
        stated.removeAll { ended.contains($0.subject) }
        adoptWishes()
    }
}
