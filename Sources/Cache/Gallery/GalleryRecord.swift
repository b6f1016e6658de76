import Model
import SQLite

/// The facts about a whole gallery that its cache stores.
public struct GalleryRecord: Hashable, Sendable {
    /// The address of the gallery's list.
    public let address: Address
    /// The number of photos in the list.
    public let photoCount: Int
    /// The number of invalid entries in the list.
    public let skipped: Int
    /// The time of the last successful update.
    public let lastSuccess: Timestamp?
    /// The reason why the last update failed; nil if it succeeded.
    public let failure: Failure?
    /// The time when the user last opened the gallery; nil if never.
    public let lastOpened: Timestamp?
    /// The server's validators for the list.
    public let validators: Validators
    /// The version of the list, which increases with every update that changes the list.
    let listVersion: Int64
    /// Whether the user marked the gallery to be kept when space is short.
    public let isKept: Bool
    /// The newest photo when the user last left the gallery; nil before the first time.
    public internal(set) var seenThrough: PhotoKey?

    /// Whether the list came from this machine or a private network; nil if unknown.
    public internal(set) var isPrivate: Bool?
    /// Whether the gallery's address has ever led to a public server.
    public internal(set) var wasPublic = false
    /// Whether the photos' ids are paths; nil if the gallery has no photos.
    public internal(set) var hasPaths: Bool?

    /// The kind that the last update found. The value is nil for a local folder, and for a list stored by an older
    /// version of Vitrine.
    var storedKind: GalleryKind?

    /// The kind of the gallery; nil if the kind is unknown.
    public var kind: GalleryKind? { storedKind ?? GalleryKind(address, hasPaths: hasPaths) }

    /// Whether the user removed the cache while a program had it open.
    ///
    /// The value is false again as soon as the user opens the gallery, or an update ends. The removal increases the
    /// version of the list, so a gallery whose first update was interrupted does not count.
    public var isEmptied: Bool {
        lastOpened == nil && lastSuccess == nil && failure == nil && photoCount == 0 && listVersion > 0
    }

    /// Whether a photo arrived after the user last left the gallery.
    public func isNew(_ key: PhotoKey) -> Bool { seenThrough.map { key > $0 } ?? false }

    /// Whether the cache has the gallery's list, or the part that an unfinished first update has fetched.
    public var hasList: Bool { lastSuccess != nil || photoCount > 0 }

    /// The status of updates, while no update is running.
    public var status: SyncStatus {
        let state: SyncStatus.State =
            if let failure { .failed(failure) } else { lastSuccess == nil ? .notUpdated : .updated }
        return SyncStatus(state: state, lastSuccess: lastSuccess, skipped: skipped)
    }
}

/// Values by which a server recognises the version of a resource. With these values, the server can say later whether
/// the resource has changed.
public struct Validators: Hashable, Sendable {
    /// The value of the `ETag` header, including its quotes.
    public var etag: String?
    /// The value of the `Last-Modified` header.
    public var lastModified: String?

    /// Creates validators. A server may send both validators, one of them, or neither.
    public init(etag: String? = nil, lastModified: String? = nil) {
        self.etag = etag
        self.lastModified = lastModified
    }
}

/// The facts that the list of galleries shows about a gallery.
public struct GalleryFacts: Hashable, Sendable {
    /// The gallery's record.
    public let record: GalleryRecord
    /// The total size of the gallery's list, thumbnails and photos on the disk, in bytes.
    public let size: Int64
    /// The number of failed thumbnails and photos, plus one if the last update failed.
    public let errorCount: Int
}

extension CacheFolder {
    /// Returns the facts about an open or closed gallery. Returns nil if the gallery has no readable cache.
    ///
    /// Call this method off the main actor. The method leaves no cache open and writes nothing.
    ///
    /// - Parameter size: the size, if the caller knows it. Otherwise this method measures the files.
    public func facts(of address: Address, size: Int64? = nil) -> GalleryFacts? {
        facts(of: address, size: size, within: ClosedGalleryCache.patience)
    }

    /// Returns the same facts as ``facts(of:size:)``. If the count of failures takes too long, the count is zero.
    ///
    /// - Parameter patience: the longest time to count failures in a closed gallery.
    func facts(of address: Address, size: Int64? = nil, within patience: Duration) -> GalleryFacts? {
        guard let gallery = gallery(address), let record = gallery.record else { return nil }
        let count = (try? read(address, orElse: gallery, within: patience) { try $0.troubleCount() }) ?? 0
        return GalleryFacts(
            record: record, size: size ?? gallery.databaseSize + gallery.photosSize,
            errorCount: count + (record.failure == nil ? 0 : 1))
    }

    /// Reads an open or closed gallery. Returns nil if the gallery has no cache of this version.
    ///
    /// - Parameters:
    ///   - closed: the closed gallery. If the gallery is open, the method does not evaluate this.
    ///   - patience: the longest time to read a closed gallery.
    func read<Result>(
        _ address: Address, orElse closed: @autoclosure () -> ClosedGalleryCache?, within patience: Duration,
        _ body: (CacheReader) throws -> Result
    ) throws -> Result? {
        if let cache = cache(GalleryID(address)), cache.address == address { return try cache.read(body) }
        guard let gallery = closed(), gallery.record != nil else { return nil }
        return try ClosedGalleryCache.withDatabase(in: gallery.folder, within: patience) { connection -> Result? in
            guard try Schema.version(of: connection) == Schema.version else { return nil }
            return try body(CacheReader(connection))
        }
    }
}
