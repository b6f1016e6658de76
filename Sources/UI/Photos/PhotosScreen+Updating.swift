import Cache
import Session
import Model

/// What the gallery is asked for: by the user, and by itself.
extension PhotosScreen {
    /// What a user means by it: everything that failed has another chance, too.
    func refresh() {
        guard !context.settings.offline else { return send(.notice("Offline: nothing is fetched.")) }
        context.retry(cache.id)
        Task { [writer = cache.writer, log = context.log] in
            do { try await writer.retry() } catch { log.error(.cache, "\(error)") }
        }
        askForUpdate()
    }

    /// What comes by itself, when the gallery is opened or at intervals.
    func askForUpdate() {
        guard !context.settings.offline else { return }
        context.wishes.ask(for: .list(cache.id))
        if context.settings.allThumbnails {
            context.wishes.ask(for: .everyPicture(cache.id, .thumbnail), importance: .rest)
        }
        // Behind the thumbnails: of what is equally important, what was asked for first comes first.
        if context.settings.allPhotos {
            context.wishes.ask(for: .everyPicture(cache.id, .original), importance: .rest)
        }
    }

    /// The user looks at the terminal again.
    func windowCameToFront() {
        if context.settings.syncOnFocus { askForUpdate() }
    }
}
