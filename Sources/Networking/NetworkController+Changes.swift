import Cache
import Model

/// What commits mean for the work: a photo that looks different now may be wanting.
extension NetworkController {
    func listen(to gallery: GalleryID) {
        guard listeners[gallery] == nil, let cache = context.caches.cache(gallery) else { return }
        let changes = cache.changes()
        listeners[gallery] = Task {
            for await change in changes {
                guard let rows = change["photo"] else { continue }
                for sweep in sweeps.keys where sweep.gallery == gallery { sweeps[sweep]?.noteChange() }
                switch rows {
                case .listed(let rows): reconsider(gallery) { rows.contains($0.rawValue) }
                case .many: reconsider(gallery) { _ in true }
                }
                look()
            }
        }
    }

    /// Photos' rows have changed.
    private func reconsider(_ gallery: GalleryID, _ isAffected: (PhotoKey) -> Bool) {
        for subject in Array(agenda.subjects) {
            guard case .picture(gallery, let key, _) = subject, isAffected(key) else { continue }
            reconsider(subject)
        }
    }

    /// A photo's row has changed: what was settled may be wanting, what is fetched may be of no use any more.
    func reconsider(_ subject: Wish.Subject) {
        switch agenda.state(of: subject) {
        case .running(let identity):
            let request = try? request(for: subject)
            // What is through and wanting no more has just been stored; and what has left the operations has failed for
            // good, and that is being noted. Their own commits are heard of before their ends.
            let isEnding = request == nil && operations[identity]?.isThrough != false
            guard request?.identity != identity, !isEnding else { return }
            leave(identity, subject)
            agenda.enqueue(subject)
        case .waiting where beingPutOff[subject] != nil:
            // The row does not say so yet. This may be of a change that was made before, and is heard of late.
            beingPutOff[subject] = true
        case .settled, .waiting:
            // A trouble that the row speaks of is the one that it was given up for, or put off.
            guard let request = try? request(for: subject), !request.hasFailedBefore else { return }
            agenda.forgiveFailures(subject)
            agenda.enqueue(subject)
        case .queued, nil: break
        }
    }
}
