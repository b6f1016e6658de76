/// A thumbnail's bytes as they lie in the cache.
public struct StoredThumbnail: Hashable, Sendable {
    /// An encoded picture from a stranger.
    public let bytes: [UInt8]
    /// Whether nothing better waits behind it. Unproven bytes hide an older thumbnail, which comes back if they turn
    /// out to be no picture: see ``GalleryWriter/accept(_:of:)`` and ``GalleryWriter/reject(_:of:reason:)``.
    public let isProven: Bool
}
