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
        for (gallery, rows) in Dictionary(grouping: rows, by: \.gallery) {
            guard let address = address(of: gallery) else { continue }
            let subjects = rows.compactMap { if case .subject(let subject) = $0.identity { subject } else { nil } }
            // A summary row stands for photos that it does not name, so the whole gallery is retried.
            let isWhole = subjects.count < rows.count
            Task { [weak self, context] in
                do {
                    try await context.retry(gallery, subjects) { [caches = context.caches] in
                        try await caches.open(address).writer.retry(isWhole ? nil : subjects.compactMap(\.photo))
                    }
                    self?.lookAgain()
                } catch {
                    context.log.error(.cache, "\(error)")
                    self?.send(.notice("\(error)"))
                }
            }
        }
        let hasMore = rows.contains { $0.count > 1 }
        send(.notice(hasMore ? "Tried again; many at once when they come into view." : "Tried again."))
    }

    func address(of gallery: GalleryID) -> Address? {
        if let cache = context.caches.cache(gallery) { return cache.address }
        let galleries = context.galleries
        return (galleries.presets + galleries.list.addresses).first { GalleryID($0) == gallery }
    }
}
