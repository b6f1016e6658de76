import Model
import SQLite

/// What there is to say of a gallery in a list of galleries.
public struct GalleryFacts: Hashable, Sendable {
    /// What is known of it.
    public let record: GalleryRecord
    /// Bytes that it takes on the disk: its list, its thumbnails and its photos.
    public let size: Int64
    /// How much of it could not be had: thumbnails, photos, and the list itself.
    public let errorCount: Int
}

extension CacheFolder {
    /// What there is to say of a gallery, whether it is open or not; nil if nothing is known of it.
    ///
    /// For work off the main actor. Nothing is opened for good, and nothing is written.
    ///
    /// - Parameter size: what it took before, if nobody need look through its folder again.
    public func facts(of address: Address, size: Int64? = nil) -> GalleryFacts? {
        guard let gallery = gallery(address), let record = gallery.record else { return nil }
        let count = (try? troubleCount(of: address, in: gallery)) ?? 0
        return GalleryFacts(
            record: record, size: size ?? gallery.databaseSize + gallery.photosSize,
            errorCount: count + (record.failure == nil ? 0 : 1))
    }

    private func troubleCount(of address: Address, in gallery: ClosedGalleryCache) throws -> Int {
        if let cache = cache(GalleryID(address)), cache.address == address {
            return try cache.read { try $0.troubleCount() }
        }
        let connection = try Connection(path: gallery.folder + "/gallery.sqlite", access: .readOnly, patience: 200)
        guard try Schema.version(of: connection) == Schema.version else { return 0 }
        return try CacheReader(connection).troubleCount()
    }
}
