/// Something a screen would like the cache to have.
///
/// A wish is stated and not answered. Whoever can fulfil it watches for it; whoever stated it watches the cache.
public struct Wish: Hashable, Sendable {
    /// What is wished for.
    public enum Subject: Hashable, Sendable {
        /// A gallery's list, fetched anew.
        case list(GalleryID)
        /// A picture of a photo, current as the list has it.
        case picture(GalleryID, PhotoKey, Rendition)
        /// That picture of every photo a gallery has, one after the other.
        case everyPicture(GalleryID, Rendition)

        /// The gallery that it is part of.
        public var gallery: GalleryID {
            switch self {
            case .list(let gallery), .picture(let gallery, _, _), .everyPicture(let gallery, _): gallery
            }
        }

        /// The photo whose picture it is; nil for a list and for every picture.
        public var photo: PhotoKey? {
            if case .picture(_, let key, _) = self { key } else { nil }
        }
    }

    /// What is wished for.
    public var subject: Subject
    /// How soon.
    public var importance: Importance

    /// States a wish.
    public init(_ subject: Subject, importance: Importance) {
        self.subject = subject
        self.importance = importance
    }
}
