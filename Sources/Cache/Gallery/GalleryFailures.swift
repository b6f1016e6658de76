import Model
import SQLite

/// What a gallery's cache keeps of what failed.
public struct GalleryFailures: Hashable, Sendable {
    /// What is known of the gallery. Why its last update failed, if it did, stands in there.
    public let record: GalleryRecord
    /// Photos that lack something, by reason.
    public let troubles: [TroubleGroup]
}

extension CacheFolder {
    /// What a gallery's cache keeps of what failed, whether it is open or not; nil if it has none, or it cannot be read.
    ///
    /// For work off the main actor. Nothing is opened for good, and nothing is written.
    public func failures(of address: Address, photoLimit: Int) -> GalleryFailures? {
        if let cache = cache(GalleryID(address)), cache.address == address {
            return try? cache.read { try GalleryFailures($0, photoLimit: photoLimit) }
        }
        guard let gallery = gallery(address), gallery.record != nil else { return nil }
        let connection = try? Connection(path: gallery.folder + "/gallery.sqlite", access: .readOnly, patience: 200)
        guard let connection, (try? Schema.version(of: connection)) == Schema.version else { return nil }
        return try? GalleryFailures(CacheReader(connection), photoLimit: photoLimit)
    }
}

extension GalleryFailures {
    fileprivate init(_ reader: CacheReader, photoLimit: Int) throws {
        record = try reader.gallery()
        troubles = try reader.troubles(photoLimit: photoLimit)
    }
}
