import Model
import Session

extension CacheFolder {
    /// Removes what the disk has of a gallery. One that this program has opened is emptied instead: somebody may be reading it,
    /// and its folder is a small one then.
    ///
    /// - Throws: ``CacheError/locked(path:)`` if another program uses it.
    public func discard(_ address: Address) async throws {
        if let cache = cache(GalleryID(address)), cache.address == address {
            try await cache.writer.clear(photosOnly: false)
            try cache.sweep()
        } else {
            try gallery(address)?.remove()
        }
        activity.forgetFailures(of: GalleryID(address))
    }
}
