import Model

/// What the list says of a photo, and what was made for it.
struct PublishedPhoto: Hashable, Sendable {
    var name: String
    var date: Timestamp
    /// How often it has changed since it was first published.
    var revision: Int
    /// Whether the file ends before the picture does.
    var isCutShort: Bool
    var thumbnail: ThumbnailName
    /// The bytes of its thumbnail's file.
    var thumbnailSize: Int64
}
