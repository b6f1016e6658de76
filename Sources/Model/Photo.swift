/// One photo as the cache knows it: what a row of a list shows.
public struct Photo: Hashable, Identifiable, Sendable {
    /// The cache's number for it, its identity.
    public let key: PhotoKey
    /// The gallery's name for it.
    public let galleryID: String
    /// The photo's title, as it came; not yet made harmless for a screen.
    public let name: String
    /// When the photo was last modified.
    public let date: Timestamp
    /// Its thumbnail.
    public let thumbnail: RenditionState
    /// The photo itself.
    public let original: RenditionState
    /// How many bytes the photo's file has, if it is here.
    public let size: Int64?

    /// Describes a row.
    public init(
        key: PhotoKey, galleryID: String, name: String, date: Timestamp, thumbnail: RenditionState,
        original: RenditionState, size: Int64? = nil
    ) {
        self.key = key
        self.galleryID = galleryID
        self.name = name
        self.date = date
        self.thumbnail = thumbnail
        self.original = original
        self.size = size
    }

    /// The cache's number for it.
    public var id: PhotoKey { key }

    /// The state of one of its two renditions.
    public subscript(rendition: Rendition) -> RenditionState {
        switch rendition {
        case .thumbnail: thumbnail
        case .original: original
        }
    }
}
