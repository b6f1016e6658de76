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

/// How soon something is wanted. Work is done in this order, across galleries and kinds of work.
public enum Importance: Int, Comparable, Hashable, Sendable, CaseIterable {
    /// Everything else that a setting asks for.
    case rest
    /// Thumbnails close to what is on the screen.
    case near
    /// Thumbnails on the screen.
    case visible
    /// The list of photos itself.
    case list
    /// The photo that is being looked at.
    case lookedAt

    /// Less important first.
    public static func < (left: Importance, right: Importance) -> Bool {
        left.rawValue < right.rawValue
    }
}

/// What names a gallery inside Vitrine: a number that follows from its address alone.
///
/// Two runs, and two programs, find the same cache for the same address. The number is no proof of identity: the
/// cache that it leads to says which address it belongs to.
public struct GalleryID: Hashable, Sendable, CustomStringConvertible {
    /// The number itself.
    public let rawValue: UInt64

    /// The gallery at an address. Credentials play no part.
    public init(_ address: Address) {
        // FNV-1a: the hasher of the standard library is seeded anew in each process.
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in address.text.utf8 {
            hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01B3
        }
        rawValue = hash
    }

    /// Sixteen hexadecimal digits, fit for a folder's name.
    public var description: String {
        let digits = String(rawValue, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
