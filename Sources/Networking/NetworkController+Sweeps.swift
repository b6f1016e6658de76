import Model

/// Wishes for every picture of a gallery, served a few at a time.
extension NetworkController {
    /// A sweep does not wait for its gallery's list, nor is it done before that is here: it will bring more to sweep.
    func refillSweeps() {
        var hasChanged = false
        for (subject, sweep) in sweeps {
            guard let cache = context.caches.cache(sweep.gallery) else { continue }
            let before = sweep.underWay
            let left = try? sweeps[subject]?.refill(cache) { [agenda] in
                if case .waiting = agenda.state(of: $0) { true } else { false }
            }
            let isListWanted = stated.contains { $0.subject == .list(sweep.gallery) }
            if !isListWanted, left == false { wishes.fulfil(subject) }
            hasChanged = hasChanged || sweeps[subject]?.underWay != before
        }
        if hasChanged { adoptWishes() }
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
