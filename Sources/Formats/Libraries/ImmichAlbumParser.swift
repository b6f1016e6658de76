import Model

/// Parses an Immich server's list of albums.
///
///     [{"id": "…", "albumName": "Summer", "assetCount": 42, "albumThumbnailAssetId": "…", …}]
///
/// Members may be in any order, and the parser skips unknown ones. An object without an id is left out.
public final class ImmichAlbumParser: LibraryParser {
    private var answer: JSONAnswer<Reader>

    /// Creates a parser for one answer.
    ///
    /// - Parameter server: the address of the server, with a slash at its end.
    public init(server: Address) {
        answer = JSONAnswer(Reader(server: server))
    }

    /// Parses the next bytes. Returns the albums that are complete.
    public func parse(_ bytes: [UInt8]) throws -> [Album] { try answer.parse(bytes) }

    /// Parses the end of the document. Throws if the answer is incomplete, or is no list of albums.
    public func finish() throws -> [Album] { try answer.finish() }

    private struct Reader: ItemReader {
        private enum Member { case id, name, count, cover }

        private let server: Address
        var items: [Album] = []
        private var member: Member?
        private var (id, cover): (String?, String?)
        private var name = ""
        private var count: Int?

        init(server: Address) {
            self.server = server
        }

        mutating func take(_ event: JSONEvent, depth: Int) throws {
            switch (depth, event) {
            case (0, .beginArray), (0, .endArray): break
            case (0, _): throw FormatError.notAGallery("an answer without albums")
            case (1, .beginObject): (member, id, cover, name, count) = (nil, nil, nil, "", nil)
            case (1, .endObject):
                guard let id, let address = try? server.resolving("albums/\(id)") else { return }
                items.append(Album(.album, at: address, name: name.isEmpty ? id : name, count: count, cover: cover))
            case (2, .key(let key)): member = Self.member(key)
            case (2, .string(let text)) where member == .id: id = ImmichID.text(text)
            case (2, .string(let text)) where member == .cover: cover = ImmichID.text(text)
            case (2, .string(let text)) where member == .name: name = AlbumText.name(text)
            case (2, .number(let text)) where member == .count: count = AlbumText.count(text)
            default: break
            }
        }

        private static func member(_ key: UnsafeRawBufferPointer) -> Member? {
            if key.isText("id") { return .id }
            if key.isText("albumName") { return .name }
            if key.isText("assetCount") { return .count }
            return key.isText("albumThumbnailAssetId") ? .cover : nil
        }
    }
}

/// Parses a page of the people that an Immich server has recognised.
///
///     {"people": [{"id": "…", "name": "…", "isHidden": false, …}], "hasNextPage": true}
///
/// People without a name, and hidden people, are left out.
public final class ImmichPeopleParser: LibraryParser {
    private var answer: JSONAnswer<Reader>
    private let page: Int
    /// Whether the page has a person with a name. Hidden people do not count.
    private var hasNames = false

    /// Creates a parser for one page.
    ///
    /// - Parameters:
    ///   - page: the name of the page, which is its number; nil for the first page.
    ///   - server: the address of the server, with a slash at its end.
    public init(page: String?, server: Address) {
        self.page = page.flatMap { AlbumText.count($0.utf8) } ?? 1
        answer = JSONAnswer(Reader(server: server))
    }

    /// The number of the page that follows; nil after the last page.
    ///
    /// The server lists people without a name last, and may know thousands of them. So a page with no named person
    /// counts as the last page.
    public var nextPage: String? {
        answer.reader.hasNextPage && hasNames ? String(page + 1) : nil
    }

    /// Parses the next bytes. Returns the people who are complete.
    public func parse(_ bytes: [UInt8]) throws -> [Album] { take(try answer.parse(bytes)) }

    /// Parses the end of the document. Throws if the answer is incomplete, or is no page of people.
    public func finish() throws -> [Album] { take(try answer.finish()) }

    private func take(_ people: [Album]) -> [Album] {
        hasNames = hasNames || !people.isEmpty
        return people
    }

    private struct Reader: ItemReader {
        private enum Member { case people, hasNextPage, id, name, isHidden }

        private let server: Address
        var items: [Album] = []
        private var member: Member?
        private var isInPeople = false
        private var id: String?
        private var name = ""
        private var isHidden = false
        /// Whether the page has a list of people, perhaps an empty one.
        private var isPage = false
        private(set) var hasNextPage = false

        init(server: Address) {
            self.server = server
        }

        func check() throws {
            guard isPage else { throw FormatError.notAGallery("an answer without people") }
        }

        mutating func take(_ event: JSONEvent, depth: Int) throws {
            switch (depth, event) {
            case (0, .beginObject), (0, .endObject): break
            case (0, _): throw FormatError.notAGallery("an answer without people")
            case (1, .key(let key)):
                member = key.isText("people") ? .people : key.isText("hasNextPage") ? .hasNextPage : nil
            case (1, .bool(let value)) where member == .hasNextPage: hasNextPage = value
            case (1, .beginArray) where member == .people: (isInPeople, isPage) = (true, true)
            case (1, .endArray): isInPeople = false
            default: if isInPeople { takePerson(event, depth: depth) }
            }
        }

        private mutating func takePerson(_ event: JSONEvent, depth: Int) {
            switch (depth, event) {
            case (2, .beginObject): (member, id, name, isHidden) = (nil, nil, "", false)
            case (2, .endObject):
                guard let id, !name.isEmpty, !isHidden, let address = try? server.resolving("people/\(id)") else {
                    return
                }
                items.append(Album(.person, at: address, name: name))
            case (3, .key(let key)):
                member =
                    key.isText("id") ? .id : key.isText("name") ? .name : key.isText("isHidden") ? .isHidden : nil
            case (3, .string(let text)) where member == .id: id = ImmichID.text(text)
            case (3, .string(let text)) where member == .name: name = AlbumText.name(text)
            case (3, .bool(let value)) where member == .isHidden: isHidden = value
            default: break
            }
        }
    }
}

/// Parses an Immich server's list of tags.
///
///     [{"id": "…", "name": "Rome", "value": "Trips/Rome", …}]
///
/// A tag's value also contains the names of its parent tags. An object without a value is left out.
public final class ImmichTagParser: LibraryParser {
    private var answer = JSONAnswer(ImmichTagReader())
    private let server: Address

    /// Creates a parser for one answer.
    ///
    /// - Parameter server: the address of the server, with a slash at its end.
    public init(server: Address) {
        self.server = server
    }

    /// Parses the next bytes. Returns the tags that are complete.
    public func parse(_ bytes: [UInt8]) throws -> [Album] { albums(try answer.parse(bytes)) }

    /// Parses the end of the document. Throws if the answer is incomplete, or is no list of tags.
    public func finish() throws -> [Album] { albums(try answer.finish()) }

    private func albums(_ tags: [ImmichTagReader.Item]) -> [Album] {
        tags.compactMap { tag in
            // A tag's address is the address of its page in a browser.
            let query = PercentEncoding.encodeAll(tag.value, except: "")
            guard let address = try? server.resolving("tags?path=\(query)") else { return nil }
            let name = Self.name(tag.value)
            return Album(.tag, at: address, name: name.isEmpty ? tag.id : name)
        }
    }

    /// Returns a name such as `Trips / Rome`. Keeps the end of a long name, because the parent tags are at the
    /// beginning.
    private static func name(_ value: [UInt8]) -> String {
        let name = String(decoding: value, as: UTF8.self).replacing("/", with: " / ")
        guard name.utf8.count > Album.longestName else { return AlbumText.name(Array(name.utf8)) }
        // The ellipsis has three bytes. A byte of the form 10xxxxxx never begins a character.
        let end = name.utf8.suffix(Album.longestName - 3).drop { $0 & 0b1100_0000 == 0b1000_0000 }
        return "…" + String(decoding: Array(end), as: UTF8.self)
    }
}

/// Finds the id of a tag in an Immich server's list of tags. The photos of the tag are on the pages that follow.
public final class ImmichTagFinder: LibraryParser {
    private var answer = JSONAnswer(ImmichTagReader())
    private let value: [UInt8]
    private var id: String?

    /// Creates a parser for one answer.
    ///
    /// - Parameter value: the value of the tag.
    public init(value: [UInt8]) {
        self.value = value
    }

    /// The name of the page that follows, with the tag's id; nil until the tag is found.
    public var nextPage: String? { id.map { ImmichTagPage(tag: $0, number: "1").name } }

    /// True, because the list has no photos.
    public var mayLackPhotos: Bool { true }

    /// Parses the next bytes. Always returns an empty array.
    public func parse(_ bytes: [UInt8]) throws -> [LibraryPhoto] {
        look(try answer.parse(bytes))
        return []
    }

    /// Parses the end of the document. Throws if the server has no such tag.
    public func finish() throws -> [LibraryPhoto] {
        look(try answer.finish())
        guard id != nil else { throw FormatError.notAGallery("the page of a tag that the server does not have") }
        return []
    }

    private func look(_ tags: [ImmichTagReader.Item]) {
        id = tags.first { $0.value == value }?.id ?? id
    }
}

/// A page of the photos that have a tag. The page's name consists of the tag's id and the page's number.
public struct ImmichTagPage: Equatable, Sendable {
    /// The id of the tag.
    public let tag: String
    /// The number of the page, from 1.
    public let number: String

    /// Creates a page.
    public init(tag: String, number: String) {
        (self.tag, self.number) = (tag, number)
    }

    /// Creates a page from its name. Returns nil for other names.
    public init?(name: String) {
        let words = name.split(separator: " ").map(String.init)
        guard words.count == 2, let tag = ImmichID.text(words[0].utf8), AlbumText.count(words[1].utf8) != nil else {
            return nil
        }
        self.init(tag: tag, number: words[1])
    }

    /// The name of the page.
    public var name: String { "\(tag) \(number)" }
}

/// Reads the events of a list of tags.
private struct ImmichTagReader: ItemReader {
    private enum Member { case id, value }

    var items: [(id: String, value: [UInt8])] = []
    private var member: Member?
    private var id: String?
    private var value: [UInt8] = []

    /// The maximum number of bytes of a value. Tags with longer values are left out.
    private static let longestValue = 1_024

    mutating func take(_ event: JSONEvent, depth: Int) throws {
        switch (depth, event) {
        case (0, .beginArray), (0, .endArray): break
        case (0, _): throw FormatError.notAGallery("an answer without tags")
        case (1, .beginObject): (member, id, value) = (nil, nil, [])
        case (1, .endObject): if let id, (1...Self.longestValue).contains(value.count) { items.append((id, value)) }
        case (1, _): throw FormatError.notAGallery("a list without tags")
        case (2, .key(let key)): member = key.isText("id") ? .id : key.isText("value") ? .value : nil
        case (2, .string(let text)) where member == .id: id = ImmichID.text(text)
        case (2, .string(let text)) where member == .value: value = Array(text.prefix(Self.longestValue + 1))
        default: break
        }
    }
}

/// The names and counts in lists of albums.
enum AlbumText {
    /// Returns a name, shortened if it is too long.
    static func name(_ text: some Sequence<UInt8>) -> String {
        let name = String(decoding: Array(text.prefix(Album.longestName)), as: UTF8.self)
        // A name that consists of white space would be invisible.
        return name.allSatisfy(\.isWhitespace) ? "" : name
    }

    /// Returns a count. Returns nil for other texts and for implausible counts.
    static func count(_ text: some Collection<UInt8>) -> Int? {
        guard (1...9).contains(text.count), text.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return text.reduce(0) { $0 * 10 + Int($1 - 0x30) }
    }
}
