import Cache
import Session
import Model
import Settings

/// What can be done about what failed.
extension ErrorsScreen {
    /// Goes to where it failed: a gallery, a photo in its list, or the photo.
    func openSelected() {
        guard let selected else { return }
        guard let address = address(of: selected.gallery) else {
            return send(.notice("This gallery is not in the list any more."))
        }
        switch selected.identity {
        case .subject(.picture(_, let key, let rendition)):
            let photo =
                selected.photo
                ?? context.caches.cache(selected.gallery).flatMap { cache in
                    try? cache.read { try $0.photo(key) }
                }
            send(.openPlace(Place(gallery: address, photo: photo?.galleryID, isPhotoOpen: rendition == .original)))
        default: send(.openPlace(Place(gallery: address)))
        }
    }

    /// Gives what failed another chance, at once. What is not named one by one has its chance when it comes into view.
    func tryAgain(_ rows: [ErrorRow]) {
        guard !rows.isEmpty else { return }
        guard !context.settings.offline else { return send(.notice("Offline: nothing is fetched.")) }
        context.activity.forgetStorageTroubles()
        context.caches.credentials.lookAgain()
        for (gallery, rows) in Dictionary(grouping: rows, by: \.gallery) {
            guard let address = address(of: gallery) else { continue }
            context.activity.reconsiderQuestions(of: gallery)
            let (caches, wishes, log) = (context.caches, context.wishes, context.log)
            Task.detached { [weak self] in
                do {
                    try await Self.forgive(rows, in: caches.open(address))
                    Self.ask(for: rows, wishes)
                    await self?.lookAgain()
                } catch {
                    log.error(.cache, "\(error)")
                    await self?.send(.notice("\(error)"))
                }
            }
        }
        let hasMore = rows.contains { $0.count > 1 }
        send(.notice(hasMore ? "Tried again; many at once when they come into view." : "Tried again."))
    }

    /// What is bad is not asked for by anybody, so that has to be taken from it first.
    private nonisolated static func forgive(_ rows: [ErrorRow], in cache: GalleryCache) async throws {
        let keys = rows.map { row -> PhotoKey? in
            if case .subject(.picture(_, let key, _)) = row.identity { key } else { nil }
        }
        // Each of them is a transaction; so many at once are one for the whole gallery.
        let areMany = keys.count > 16 || rows.contains { if case .rest = $0.identity { true } else { false } }
        guard !areMany else { return try await cache.writer.forgiveTroubles() }
        for key in keys.compactMap({ $0 }) { try await cache.writer.forgiveTroubles(of: key) }
    }

    private nonisolated static func ask(for rows: [ErrorRow], _ wishes: Wishes) {
        for row in rows {
            guard case .subject(let subject) = row.identity else { continue }
            switch subject {
            case .list, .everyPicture: wishes.ask(for: subject)
            case .picture: wishes.ask(for: subject, importance: .visible)
            }
            // Somebody else may have been waiting for it.
            wishes.hurry([subject])
        }
    }

    func address(of gallery: GalleryID) -> Address? {
        if let cache = context.caches.cache(gallery) { return cache.address }
        let galleries = context.galleries
        return (galleries.presets + galleries.list.addresses).first { GalleryID($0) == gallery }
    }
}
