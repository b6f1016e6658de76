/// One photo as a gallery's list describes it.
public struct GalleryEntry: Hashable, Sendable {
    /// Unique within its gallery, chosen by whoever made it.
    public var id: String
    /// The photo's title.
    public var name: String
    /// When the photo was last modified.
    public var date: Timestamp
    /// Where the photo lies.
    public var photo: Address
    /// Where its thumbnail lies, if the gallery has one.
    public var thumbnail: Address?

    /// Describes a photo.
    public init(id: String, name: String, date: Timestamp, photo: Address, thumbnail: Address?) {
        self.id = id
        self.name = name
        self.date = date
        self.photo = photo
        self.thumbnail = thumbnail
    }
}
