/// The file of a photo, as its row names it.
public struct StoredPhoto: Hashable, Sendable {
    /// The name inside the photos folder; made by the cache, nothing in it came from outside.
    public let name: String
    /// Its length when it was stored.
    public let size: Int64
    /// A digest of its bytes when it was stored: tells a picture that was always broken from one that broke here.
    public let digest: Int64
    /// The edition it holds.
    public let edition: Int
}
