import Model

/// What a photo says of itself, as it lies in the cache.
public struct StoredMetadata: Hashable, Sendable {
    /// What it says.
    public let metadata: PhotoMetadata
    /// The edition of the photo that said it.
    public let edition: Int
}
