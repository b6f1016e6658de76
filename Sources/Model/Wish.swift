/// Data that a screen wants to have in the cache.
///
/// The screen states its wishes and watches the cache. The network controller watches the wishes and fetches the data.
public struct Wish: Hashable, Sendable {
    /// The data that a wish requests.
    public enum Subject: Hashable, Sendable {
        /// A fresh copy of a gallery's list.
        case list(GalleryID)
        /// The current edition of a picture.
        case picture(GalleryID, PhotoKey, Rendition)
        /// The current thumbnail or original of every photo in a gallery.
        case everyPicture(GalleryID, Rendition)
        /// The albums, people and favorites of a gallery's server.
        case albums(GalleryID)

        /// The gallery to which the data belong.
        public var gallery: GalleryID {
            switch self {
            case .list(let gallery), .picture(let gallery, _, _), .everyPicture(let gallery, _), .albums(let gallery):
                gallery
            }
        }

        /// The photo to which the picture belongs; nil for lists, and for the pictures of all photos.
        public var photo: PhotoKey? {
            if case .picture(_, let key, _) = self { key } else { nil }
        }
    }

    /// The data that the screen wants.
    public var subject: Subject
    /// The priority of the wish.
    public var importance: Importance

    /// Creates a wish.
    public init(_ subject: Subject, importance: Importance) {
        self.subject = subject
        self.importance = importance
    }

    /// Whether the user has opened the photo, and so sees its failure.
    public var isOfOpenPhoto: Bool { subject.photo != nil && importance >= .lookedAt }
}

/// The priority of a wish, across galleries and kinds of work.
public enum Importance: Int, Comparable, Hashable, Sendable, CaseIterable {
    /// All other pictures, such as pictures that Vitrine fetches because of a setting.
    case rest
    /// Thumbnails near the visible part of a list, and photos to save.
    ///
    /// Pictures that the user retries without looking at them have this importance, too.
    case near
    /// Thumbnails on the screen.
    case visible
    /// A gallery's list of photos.
    case list
    /// The photo in the viewer.
    case lookedAt

    /// Compares priorities. Less important values come first.
    public static func < (left: Importance, right: Importance) -> Bool {
        left.rawValue < right.rawValue
    }
}

/// The identifier of a gallery, computed from its address.
///
/// Every run and every program computes the same identifier from an address, and so finds the same cache. Two addresses
/// could have the same identifier, so each cache also stores its address.
public struct GalleryID: Hashable, Sendable, CustomStringConvertible {
    /// The number that identifies the gallery.
    public let rawValue: UInt64

    /// Creates the identifier with a known number, which another process sent.
    public init(rawValue: UInt64) {
        self.rawValue = rawValue
    }

    /// Computes the identifier of an address. The address's credentials do not change the identifier.
    public init(_ address: Address) {
        rawValue = UInt64(hashing: address.text.utf8)
    }

    /// The identifier as sixteen hexadecimal digits, usable as a folder name.
    public var description: String {
        let digits = String(rawValue, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}

extension UInt64 {
    /// Computes a hash that is the same in every run and every program.
    package init(hashing bytes: some Sequence<UInt8>) {
        // FNV-1a, because the standard library's hasher has a different seed in each process.
        self = bytes.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01B3 }
    }
}
