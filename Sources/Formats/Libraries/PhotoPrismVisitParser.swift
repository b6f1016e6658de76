import Model
import Numbers

/// A page of the album behind a shared link of a PhotoPrism server.
///
/// The first page is the link itself. Its answer states the album's id and has no photos.
public struct PhotoPrismSharePage: Hashable, Sendable {
    /// The secret of the visit, which each request for photos must carry.
    public let session: String
    /// The id of the album.
    public let album: String
    /// The number of photos and videos on earlier pages.
    public let offset: Int

    init(session: String, album: String, offset: Int) {
        (self.session, self.album, self.offset) = (session, album, offset)
    }

    /// Creates a page from its name. Returns nil for an invalid name.
    public init?(name: String) {
        let words = name.split(separator: " ").map(String.init)
        guard words.count == 3, let offset = Int(digits: words[2]) else { return nil }
        self.init(session: words[0], album: words[1], offset: offset)
    }

    var name: String { "\(session) \(album) \(offset)" }
}

/// Parses the answer with which a PhotoPrism server opens a shared link.
///
///     {"access_token": "…", "data": {"tokens": ["…"], "shares": ["a…"]},
///      "config": {"previewToken": "…", "downloadToken": "…", …}, …}
///
/// Before 2024, the server called the access token `id`.
public final class PhotoPrismVisitParser: LibraryParser {
    private var stream = JSONPushStream()
    private var reader = Reader()
    private let album: String?

    /// Creates a parser for one answer.
    ///
    /// - Parameter album: the last part of the link, which is the album's id or a word from its title; nil if the link
    ///   has neither.
    public init(album: String? = nil) { self.album = album }

    /// The token in the addresses of thumbnails; nil if the answer has none.
    public var previewToken: String? { reader.values[.preview] }
    /// The token in the addresses of files; nil if the answer has none.
    public var downloadToken: String? { reader.values[.download] }

    /// Always true, because the answer has no photos.
    public var mayLackPhotos: Bool { true }

    /// The name of the album's first page; nil if the answer opens no album.
    public var nextPage: String? { page?.name }

    /// Parses the next bytes.
    public func parse(_ bytes: [UInt8]) throws -> [LibraryPhoto] {
        try stream.push(bytes, to: &reader)
        return []
    }

    /// Parses the end of the document. Throws if the answer opens no album.
    public func finish() throws -> [LibraryPhoto] {
        try stream.finish(to: &reader)
        guard page == nil else { return [] }
        throw reader.albums.count > 1
            ? FormatError.severalAlbums : FormatError.notAGallery("an answer without a shared album")
    }

    private var page: PhotoPrismSharePage? {
        guard let session = reader.values[.accessToken] ?? reader.values[.id], let shared else { return nil }
        return PhotoPrismSharePage(session: session, album: shared, offset: 0)
    }

    /// The album that the link means; nil if that is not clear.
    private var shared: String? {
        let albums = reader.albums
        if let album, albums.contains(album) { return album }
        // A server without passwords lets everyone in and states no albums.
        if albums.isEmpty { return album.flatMap { PhotoPrismText.albumID($0.utf8) } }
        return albums.count == 1 ? albums.first : nil
    }

    private struct Reader: JSONConsumer {
        enum Value { case accessToken, id, preview, download }

        private enum Member { case data, config }

        private(set) var values: [Value: String] = [:]
        /// The albums of the link. There are several if a user chose the same secret for several albums.
        private(set) var albums: Set<String> = []
        private var member: Member?
        private var value: Value?
        private var isInShares = false

        /// The maximum number of bytes of a secret.
        private static let longestSecret = 256
        /// The maximum number of albums of a link that are kept.
        private static let mostAlbums = 1_000

        mutating func take(_ event: JSONEvent, depth: Int) throws {
            switch (depth, event) {
            case (0, .beginObject), (0, .endObject): break
            case (0, _): throw FormatError.notAGallery("an answer without a shared album")
            case (1, .key(let name)):
                member = name.isText("data") ? .data : name.isText("config") ? .config : nil
                value = name.isText("access_token") ? .accessToken : name.isText("id") ? .id : nil
            case (2, .key(let name)) where member == .config:
                value = name.isText("previewToken") ? .preview : name.isText("downloadToken") ? .download : nil
            case (2, .key(let name)) where member == .data: isInShares = name.isText("shares")
            case (1, .string(let text)), (2, .string(let text)): keep(text)
            case (3, .string(let text)) where member == .data && isInShares: keepAlbum(text)
            default: break
            }
        }

        private mutating func keep(_ text: UnsafeRawBufferPointer) {
            guard let value, (1...Self.longestSecret).contains(text.count), text.allSatisfy(Self.isPlain) else {
                return
            }
            values[value] = String(decoding: text, as: UTF8.self)
        }

        private mutating func keepAlbum(_ text: UnsafeRawBufferPointer) {
            guard albums.count < Self.mostAlbums, let id = PhotoPrismText.albumID(text) else { return }
            albums.insert(id)
        }

        /// Returns whether a byte may be part of a secret. A secret becomes part of an address or a header.
        private static func isPlain(_ byte: UInt8) -> Bool {
            (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte | 0x20) || byte == UInt8(ascii: "-")
                || byte == UInt8(ascii: "_")
        }
    }
}
