import Model

/// Parses a page of a PhotoPrism server's albums, people or labels.
///
///     [{"UID": "…", "Title": "Summer", "PhotoCount": 42, "Thumb": "…", …}]
///
/// The cover of each album is the hash of a photo, which is also that photo's revision. An object without an id is left
/// out.
public final class PhotoPrismAlbumParser: LibraryParser {
    /// The kind of a list. The raw value is the server's name for the type of album.
    public enum Kind: String, Sendable {
        /// Albums that users made.
        case album
        /// Albums that the server made, for example of trips and holidays.
        case moment
        /// Folders with the original files.
        case folder
        /// People with names.
        case person
        /// Labels, which are words for the contents of photos.
        case label
    }

    private var answer: JSONAnswer<Reader>
    private let offset: Int
    private let pageSize: Int

    /// Creates a parser for one page.
    ///
    /// - Parameters:
    ///   - kind: the kind of the list.
    ///   - server: the address of the server, with a slash at its end.
    ///   - offset: the number of albums on earlier pages.
    ///   - pageSize: the number of albums that the request asked for. If the page has fewer albums, it is the last
    ///     page.
    public init(_ kind: Kind, server: Address, offset: Int, pageSize: Int) {
        answer = JSONAnswer(Reader(kind: kind, server: server))
        (self.offset, self.pageSize) = (offset, pageSize)
    }

    /// Parses the next bytes. Returns the albums that are complete.
    public func parse(_ bytes: [UInt8]) throws -> [Album] { try answer.parse(bytes) }

    /// Parses the end of the document. Throws if the answer is incomplete, or is no list of albums.
    public func finish() throws -> [Album] { try answer.finish() }

    /// The offset of the page that follows; nil after the last page.
    public var nextPage: String? {
        guard answer.reader.count >= pageSize else { return nil }
        let (next, isOverflow) = offset.addingReportingOverflow(answer.reader.count)
        return isOverflow ? nil : String(next)
    }

    private struct Reader: ItemReader {
        private enum Member { case id, name, path, slug, customSlug, count, cover }

        private let kind: Kind
        private let server: Address
        var items: [Album] = []
        private var member: Member?
        private var (id, cover): (String?, String?)
        private var (name, path) = ("", "")
        /// The label's word in searches, and the word since a user renamed the label.
        private var (slug, customSlug): (String?, String?)
        private var photoCount: Int?
        /// The number of albums so far.
        private(set) var count = 0

        init(kind: Kind, server: Address) {
            (self.kind, self.server) = (kind, server)
        }

        mutating func take(_ event: JSONEvent, depth: Int) throws {
            switch (depth, event) {
            case (0, .beginArray), (0, .endArray): break
            case (0, _): throw FormatError.notAGallery("an answer without albums")
            case (1, .beginObject):
                (member, id, cover, name, path, photoCount) = (nil, nil, nil, "", "", nil)
                (slug, customSlug) = (nil, nil)
            case (1, .endObject):
                count += 1
                if let album { items.append(album) }
            case (1, _): throw FormatError.notAGallery("a list without albums")
            case (2, .key(let key)): member = member(key)
            case (2, .string(let text)):
                switch member {
                case .id: id = PhotoPrismText.id(text)
                // The cover of a person is the part of a photo that shows the face, in the form `HASH-AREA`.
                case .cover: cover = PhotoPrismText.id(text.prefix { $0 != UInt8(ascii: "-") })
                case .name: name = AlbumText.name(text)
                case .path: path = AlbumText.name(text)
                case .slug: slug = PhotoPrismText.slug(text)
                case .customSlug: customSlug = PhotoPrismText.slug(text)
                case .count, nil: break
                }
            case (2, .number(let text)) where member == .count: photoCount = AlbumText.count(text)
            default: break
            }
        }

        private func member(_ key: UnsafeRawBufferPointer) -> Member? {
            switch key.count {
            case 3 where key.isText("UID"): .id
            case 4 where key.isText("Path"): .path
            case 4 where key.isText("Slug"): .slug
            case 10 where key.isText("CustomSlug"): .customSlug
            case 5 where key.isText("Thumb"): .cover
            case 10 where key.isText("PhotoCount"): .count
            default: key.isText(kind == .person || kind == .label ? "Name" : "Title") ? .name : nil
            }
        }

        private var album: Album? {
            guard let id, let page = page(of: id), let address = try? server.resolving(page) else { return nil }
            return switch kind {
            case .person: Album(.person, at: address, name: shown(name, id), count: photoCount, cover: cover)
            case .album: Album(.album, at: address, name: shown(name, id), count: photoCount, cover: cover)
            case .label: Album(.tag, at: address, name: shown(name, id), count: photoCount, cover: cover)
            // The server's count includes only photos that users put into the album, so the count is left out.
            case .moment: Album(.album, at: address, name: shown(name, id), cover: cover)
            // The title is only the last part of the path, so the name is the whole path.
            case .folder:
                Album(
                    .album, at: address, name: path.isEmpty ? shown(name, id) : path.replacing("/", with: " / "),
                    cover: cover)
            }
        }

        private func shown(_ name: String, _ id: String) -> String { name.isEmpty ? id : name }

        /// Returns the relative address of the page that a browser shows. Returns nil for a label without a word for
        /// searches.
        private func page(of id: String) -> String? {
            switch kind {
            case .person: "library/all?q=subject:\(id)"
            case .label: (customSlug ?? slug).map { "library/all?q=label:\($0)" }
            case .album, .moment, .folder: "library/\(kind.rawValue)s/\(id)/view"
            }
        }
    }
}
