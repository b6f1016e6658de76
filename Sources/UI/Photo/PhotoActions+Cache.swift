import Cache
import Session
import Model
import Text

/// What is done to what the cache has of photos.
extension PhotoActions {
    /// Deletes their files. One is fetched again as soon as it is looked at; of several that takes a while, so it is asked.
    func delete(_ keys: [PhotoKey]) {
        guard keys.count > 1 else { return drop(keys) }
        sender?.send(.confirm("Delete \(name(of: keys)) from the cache?") { [self] in drop(keys) })
    }

    private func drop(_ keys: [PhotoKey]) {
        let name = name(of: keys)
        Task {
            do {
                let count = try await cache.writer.dropPhotos(keys)
                guard count > 0 else { return tell("\(name): not here, so there is nothing to delete.") }
                let deleted = keys.count == 1 ? name : CountText.text(count, "photo")
                tell("Deleted from the cache, not from the gallery: \(deleted).")
            } catch {
                tell("\(error)")
            }
        }
    }

    /// Fetches once more what is here of them, or was given up.
    func refetch(_ keys: [PhotoKey]) {
        guard !context.settings.offline else { return tell("Offline: nothing is fetched.") }
        let name = name(of: keys)
        Task {
            do {
                let subjects = try cache.read { reader in try keys.flatMap { try Self.subjects($0, cache.id, reader) } }
                try await context.retry(cache.id, subjects) { [writer = cache.writer] in
                    try await writer.refetch(keys)
                }
                tell("Fetching anew: \(name).")
            } catch {
                tell("\(error)")
            }
        }
    }

    /// Its thumbnail, and the photo if it was ever asked for.
    private static func subjects(
        _ key: PhotoKey, _ gallery: GalleryID, _ reader: CacheReader
    ) throws -> [Wish.Subject] {
        guard let photo = try reader.photo(key) else { return [] }
        let isPhotoMeant = photo.original.held != nil || photo.original.trouble != nil
        return ([.thumbnail] + (isPhotoMeant ? [.original] : [])).map { .picture(gallery, key, $0) }
    }
}
