import Model
import SQLite

/// What the cache knows of a gallery as a whole.
public struct GalleryRecord: Hashable, Sendable {
    /// Where its list lies.
    public let address: Address
    /// How many photos the list has.
    public let photoCount: Int
    /// How many entries of the last list broke a rule.
    public let skipped: Int
    /// When an update last succeeded.
    public let lastSuccess: Timestamp?
    /// How the last attempt ended, if it failed.
    public let failure: Failure?
    /// When somebody last looked at it.
    public let lastOpened: Timestamp?
    /// What the server said of the list.
    public let validators: Validators
    /// Goes up with every update that changed the list.
    let listVersion: Int64
    /// Whether the user wants to have it here whatever room it takes.
    public let isKept: Bool
    /// The last photo that there was when the user left the gallery; nil if he never did.
    public internal(set) var seenThrough: PhotoKey?

    /// Whether its list was sent by this machine or from the user's own network; nil if nobody has looked.
    public internal(set) var isPrivate: Bool?
    /// Whether the gallery's own address has ever led to a public one.
    public internal(set) var wasPublic = false

    /// Whether a photo has come since the user left the gallery.
    public func isNew(_ key: PhotoKey) -> Bool { seenThrough.map { key > $0 } ?? false }

    /// What there is to say of its updates when none is running.
    public var status: SyncStatus {
        let state: SyncStatus.State =
            if let failure { .failed(failure) } else { lastSuccess == nil ? .notUpdated : .updated }
        return SyncStatus(state: state, lastSuccess: lastSuccess, skipped: skipped)
    }
}

/// What a server said by which it can tell later that nothing has changed.
public struct Validators: Hashable, Sendable {
    /// The `ETag` header, quotes and all.
    public var etag: String?
    /// The `Last-Modified` header, as it came.
    public var lastModified: String?

    /// Puts them together; a server may send both, one or neither.
    public init(etag: String? = nil, lastModified: String? = nil) {
        self.etag = etag
        self.lastModified = lastModified
    }
}

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
