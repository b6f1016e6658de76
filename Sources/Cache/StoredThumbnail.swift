/// A thumbnail's bytes as they lie in the cache.
public struct StoredThumbnail: Hashable, Sendable {
    /// An encoded picture from a stranger.
    public let bytes: [UInt8]
    /// Whether nothing better waits behind it. Unproven bytes hide an older thumbnail, which comes back if they turn
    /// out to be no picture: see ``GalleryWriter/acceptThumbnail(of:)`` and ``GalleryWriter/rejectThumbnail(of:reason:)``.
    public let isProven: Bool
}
