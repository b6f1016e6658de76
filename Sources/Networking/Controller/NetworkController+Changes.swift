import Cache
import Session
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
                case .listed(let rows): reconsider(cache) { rows.contains($0.rawValue) }
                case .many: reconsider(cache) { _ in true }
                }
                look()
            }
        }
    }

    /// Photos' rows have changed.
    private func reconsider(_ cache: GalleryCache, _ isAffected: (PhotoKey) -> Bool) {
        let affected = table.subjects.filter {
            if case .picture(cache.id, let key, _) = $0 { isAffected(key) } else { false }
        }
        for subject in affected { reconsider(subject) }
        for subject in context.activity.failures.map(\.subject) {
            guard case .picture(cache.id, let key, let rendition) = subject, isAffected(key) else { continue }
            // Of what has just failed the row does not say so yet.
            if case .running = table.state(of: subject) { continue }
            guard beingPutOff[subject] == nil, isWell(key, rendition, cache) else { continue }
            context.activity.forgetFailure(of: subject)
        }
    }

    /// Whether there is no such photo any more, or nothing is held against it: it has come, or has another chance. A thumbnail
    /// may have failed because the photo did that it was to be made from.
    private func isWell(_ key: PhotoKey, _ rendition: Rendition, _ cache: GalleryCache) -> Bool {
        do {
            guard let photo = try cache.read({ try $0.photo(key) }) else { return true }
            return photo.original.trouble == nil && (rendition == .original || photo.thumbnail.trouble == nil)
        } catch {
            return false
        }
    }

    /// A photo's row has changed: what was settled may be wanting, what is fetched may be of no use any more.
    func reconsider(_ subject: Wish.Subject) {
        switch table.state(of: subject) {
        case .running(let identity):
            let request = try? request(for: subject)
            // What is through and wanting no more has just been stored; and what has left the operations has failed for
            // good, and that is being noted. Their own commits are heard of before their ends.
            let isEnding = request == nil && operations[identity]?.isThrough != false
            guard request?.identity != identity, !isEnding else { return }
            leave(identity, subject)
            table.enqueue(subject)
        case .waiting where beingPutOff[subject] != nil:
            // The row does not say so yet. This may be of a change that was made before, and is heard of late.
            beingPutOff[subject] = true
        case .settled, .waiting:
            // A trouble that the row speaks of is the one that it was given up for, or put off.
            guard let request = try? request(for: subject), !request.hasFailedBefore else { return }
            table.forgiveFailures(subject)
            table.enqueue(subject)
        case .queued, nil: break
        }
    }
}
