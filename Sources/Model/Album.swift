/// A part of a photo server that opens as a gallery of its own: an album, a person, a tag, or the favorites.
public struct Album: Hashable, Sendable {
    /// The kind of an album. The cache stores the raw value, and Vitrine shows the raw value to users.
    public enum Kind: String, Hashable, Sendable {
        /// The photos that the user marked as favorites.
        case favorites
        /// An album.
        case album
        /// The photos that show a person.
        case person
        /// The photos that have a tag, or another label.
        case tag
    }

    /// The address that opens the album as a gallery.
    public var address: Address
    /// The kind of the album.
    public var kind: Kind
    /// The name of the album, person or tag. The name may contain control characters.
    public var name: String
    /// The number of photos and videos according to the server; nil if unknown.
    public var count: Int?
    /// The id of the album's cover photo; nil if unknown.
    public var cover: String?

    /// The maximum number of bytes of a name. Parsers shorten longer names.
    public static let longestName = 256

    /// Creates an album.
    public init(_ kind: Kind, at address: Address, name: String, count: Int? = nil, cover: String? = nil) {
        self.address = address
        self.kind = kind
        self.name = name
        self.count = count
        self.cover = cover
    }
}

extension GalleryKind {
    /// Whether Vitrine can list the albums of servers of this kind.
    public var canListAlbums: Bool {
        switch self {
        case .immich, .nextcloud, .photoPrism, .piwigo: true
        case .list, .folder, .web, .webDAV, .feed, .s3: false
        }
    }
}
