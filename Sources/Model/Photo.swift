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

/// The cache's own number for a photo.
///
/// It stays with the photo through every update and is never given to another, so a selection, a wish or a drawn
/// picture that holds one cannot come to mean something else.
public struct PhotoKey: Hashable, Comparable, Sendable {
    /// The number itself: the photo's row.
    public let rawValue: Int64

    /// Wraps a row's number.
    public init(_ rawValue: Int64) {
        self.rawValue = rawValue
    }

    /// In the order in which the photos came into the cache.
    public static func < (left: PhotoKey, right: PhotoKey) -> Bool {
        left.rawValue < right.rawValue
    }
}

/// The two pictures of a photo that a gallery offers.
public enum Rendition: String, Hashable, Sendable, CaseIterable {
    /// The small one, for lists.
    case thumbnail
    /// The photo itself. Caches and JSON call it "photo".
    case original = "photo"
}

/// What the cache has of one rendition, and what stands in the way of the rest.
///
/// Every time the gallery gives a rendition another address or date, its `edition` goes up by one; and every time the user
/// asks once more for one that was bad. What is held may be of an older edition: it is shown until the newer one is here,
/// whatever happens on the way.
public struct RenditionState: Hashable, Sendable {
    /// Why the wanted edition is not here.
    public enum Trouble: Hashable, Sendable {
        /// An attempt failed and another will follow by itself.
        case putOff(Failure)
        /// It cannot be had or cannot be read; tried again only when the user refreshes.
        case bad(Failure)

        /// The reason of the failure.
        public var failure: Failure {
            switch self {
            case .putOff(let failure), .bad(let failure): failure
            }
        }
    }

    /// The edition the gallery's list speaks of.
    public var edition: Int
    /// The edition whose bytes are in the cache, if any are. Negative for older ones that came back when newer ones turned
    /// out to be bad.
    public var held: Int?
    /// What went wrong with the wanted edition, if anything did.
    public var trouble: Trouble?

    /// Puts the three facts together.
    public init(edition: Int, held: Int? = nil, trouble: Trouble? = nil) {
        self.edition = edition
        self.held = held
        self.trouble = trouble
    }

    /// Whether what is held is what the gallery speaks of.
    public var isCurrent: Bool { held == edition }

    /// Whether fetching it now could help.
    public var isWanting: Bool {
        if isCurrent { return false }
        if case .bad = trouble { return false }
        return true
    }
}

/// The first bytes of the picture formats that photos come in.
///
/// A guard at the door, nothing more: it keeps web pages and error texts out of the cache. Whether the bytes are a
/// picture is found out where they are decoded.
public enum PictureSignature: String, Sendable, CaseIterable {
    case jpeg, png, gif, webp, tiff, heif

    /// How many bytes it takes to tell.
    public static let length = 12

    /// The format that these first bytes begin, if it is one of them.
    public init?(_ bytes: some Collection<UInt8>) {
        let head = Array(bytes.prefix(Self.length))
        switch head {
        case _ where head.starts(with: [0xFF, 0xD8, 0xFF]): self = .jpeg
        case _ where head.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]): self = .png
        case _ where head.starts(with: Array("GIF87a".utf8)) || head.starts(with: Array("GIF89a".utf8)): self = .gif
        case _ where head.starts(with: Array("RIFF".utf8)) && head.dropFirst(8).elementsEqual("WEBP".utf8):
            self = .webp
        // 43 in the place of 42 are files with offsets of 64 bits.
        case _ where [0x2A, 0x2B].contains { head.starts(with: [0x49, 0x49, $0, 0x00]) }: self = .tiff
        case _ where [0x2A, 0x2B].contains { head.starts(with: [0x4D, 0x4D, 0x00, $0]) }: self = .tiff
        // ISO base media, the brands of still pictures.
        case _ where head.dropFirst(4).starts(with: "ftyp".utf8) && Self.isStillBrand(head.dropFirst(8)): self = .heif
        default: return nil
        }
    }

    private static func isStillBrand(_ brand: ArraySlice<UInt8>) -> Bool {
        ["heic", "heix", "heim", "heis", "hevc", "hevx", "mif1", "msf1", "avif", "avis"].contains {
            $0.utf8.elementsEqual(brand)
        }
    }
}
