/// Something a screen wants in the cache.
///
/// The screen states the wish and watches the cache. The network controller watches the wishes and serves them.
public struct Wish: Hashable, Sendable {
    /// The wanted thing.
    public enum Subject: Hashable, Sendable {
        /// A fresh copy of a gallery's list.
        case list(GalleryID)
        /// The current edition of a picture.
        case picture(GalleryID, PhotoKey, Rendition)
        /// The current edition of that picture for every photo of a gallery.
        case everyPicture(GalleryID, Rendition)

        /// The gallery of the wanted thing.
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

    /// The wanted thing.
    public var subject: Subject
    /// The priority.
    public var importance: Importance

    /// Creates a wish.
    public init(_ subject: Subject, importance: Importance) {
        self.subject = subject
        self.importance = importance
    }
}

/// The priority of a wish, across galleries and kinds of work.
public enum Importance: Int, Comparable, Hashable, Sendable, CaseIterable {
    /// Everything else that the settings ask for.
    case rest
    /// Thumbnails near the screen.
    case near
    /// Thumbnails on the screen.
    case visible
    /// The list of photos.
    case list
    /// The photo in the viewer.
    case lookedAt

    /// Less important values come first.
    public static func < (left: Importance, right: Importance) -> Bool {
        left.rawValue < right.rawValue
    }
}

/// The identifier of a gallery, computed from its address.
///
/// All runs and programs find the same cache for an address. Different addresses could collide, so each cache also
/// stores its address.
public struct GalleryID: Hashable, Sendable, CustomStringConvertible {
    /// The number.
    public let rawValue: UInt64

    /// Computes the identifier of an address, without its credentials.
    public init(_ address: Address) {
        // FNV-1a, because the standard library's hasher has a different seed in each process.
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in address.text.utf8 {
            hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01B3
        }
        rawValue = hash
    }

    /// Sixteen hexadecimal digits, usable as a folder name.
    public var description: String {
        let digits = String(rawValue, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
