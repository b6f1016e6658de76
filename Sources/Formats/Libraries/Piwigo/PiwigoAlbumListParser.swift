import Model

/// Parses the counts in a Piwigo server's list of albums.
///
///     {"stat": "ok", "result": {"categories": [{"id": 7, "nb_images": 42, "date_last": "2024-05-06 07:08:09", …}]}}
public final class PiwigoAlbumListParser: LibraryParser {
    private var answer = PiwigoAnswer(PiwigoAlbumReader(.album))

    /// Creates a parser for one answer.
    public init() {}

    /// Parses the next bytes. Returns the albums that are complete.
    public func parse(_ bytes: [UInt8]) throws -> [LibraryPart] { try parts(answer.parse(bytes)) }

    /// Parses the end of the document. Throws if the answer is incomplete, or is no list of albums.
    public func finish() throws -> [LibraryPart] { try parts(answer.finish()) }

    private func parts(_ records: [PiwigoAlbumRecord]) throws -> [LibraryPart] {
        try records.map { record in
            guard let id = record.id, let count = record.count else {
                throw FormatError.notAGallery("an album without a count")
            }
            // The date of the newest photo is needed because the count stays the same if one photo replaces another.
            return LibraryPart(name: id, count: "\(count) \(record.newest?.iso8601 ?? "")")
        }
    }
}

/// Parses a Piwigo server's list of albums or tags.
///
///     {"stat": "ok", "result": {"categories": [{"id": 7, "name": "2024 / Lake", "total_nb_images": 42,
///      "representative_picture_id": "9", …}]}}
///     {"stat": "ok", "result": {"tags": [{"id": 7, "name": "Rome", "counter": 42, …}]}}
///
/// An object without an id is left out.
public final class PiwigoAlbumParser: LibraryParser {
    /// The kind of a list. The raw value is the server's name for the list.
    public enum Kind: String, Sendable {
        /// Albums.
        case album = "categories"
        /// Tags.
        case tag = "tags"
    }

    private var answer: PiwigoAnswer<PiwigoAlbumReader>
    private let kind: Kind
    private let server: Address

    /// Creates a parser for one answer.
    ///
    /// - Parameters:
    ///   - kind: the kind of the list.
    ///   - server: the address of the server, with a slash at its end.
    public init(_ kind: Kind, server: Address) {
        (self.kind, self.server) = (kind, server)
        answer = PiwigoAnswer(PiwigoAlbumReader(kind))
    }

    /// Parses the next bytes. Returns the albums that are complete.
    public func parse(_ bytes: [UInt8]) throws -> [Album] { albums(try answer.parse(bytes)) }

    /// Parses the end of the document. Throws if the answer is incomplete, or has no list of this kind.
    public func finish() throws -> [Album] { albums(try answer.finish()) }

    private func albums(_ records: [PiwigoAlbumRecord]) -> [Album] {
        records.compactMap { record in
            guard let id = record.id, let address = try? server.resolving("index.php?/\(page)/\(id)") else {
                return nil
            }
            return Album(
                kind == .tag ? .tag : .album, at: address, name: record.name.isEmpty ? id : record.name,
                count: record.deepCount, cover: record.cover)
        }
    }

    /// The part of a page's address that distinguishes tags from albums.
    private var page: String { kind == .tag ? "tags" : "category" }
}

/// The members of the object that describes an album or a tag.
private struct PiwigoAlbumRecord {
    var id: String?
    var name = ""
    /// The number of photos in the album itself.
    var count: Int?
    /// The number of photos in the album and its sub-albums. For a tag, the number of photos with the tag.
    var deepCount: Int?
    /// The date of the newest photo in the album itself.
    var newest: Timestamp?
    /// The id of the photo that the server shows for the album.
    var cover: String?
}

/// Reads the events of a list of albums or tags.
private struct PiwigoAlbumReader: ItemReader {
    private enum Member { case id, name, count, deepCount, newest, cover }

    var items: [PiwigoAlbumRecord] = []
    private var record = PiwigoAlbumRecord()
    private var isInList = false
    private var isList = false
    private var isNamedList = false
    private var member: Member?
    private let kind: PiwigoAlbumParser.Kind

    init(_ kind: PiwigoAlbumParser.Kind) {
        self.kind = kind
    }

    /// Throws if the answer has no list of this kind.
    func check() throws {
        guard isList else { throw refusal }
    }

    mutating func take(_ event: JSONEvent, depth: Int) throws {
        switch (depth, event) {
        case (0, .beginObject), (0, .endObject): break
        case (0, _): throw refusal
        case (1, .key(let name)): isNamedList = name.elementsEqual(kind.rawValue.utf8)
        case (1, .beginArray) where isNamedList: (isInList, isList) = (true, true)
        case (1, .endArray): isInList = false
        case (2, .beginObject) where isInList: (record, member) = (PiwigoAlbumRecord(), nil)
        case (2, .endObject) where isInList: items.append(record)
        case (3, .key(let name)) where isInList: member = Self.member(name)
        case (3, .string(let text)) where member == .name: record.name = AlbumText.name(text)
        case (3, _) where member == .id: record.id = PiwigoValue.id(event)
        case (3, _) where member == .count: record.count = PiwigoValue.number(event)
        case (3, _) where member == .deepCount: record.deepCount = PiwigoValue.number(event)
        case (3, _) where member == .newest: record.newest = PiwigoValue.time(event)
        case (3, _) where member == .cover: record.cover = PiwigoValue.id(event)
        default: break
        }
    }

    private var refusal: FormatError { .notAGallery("an answer without \(kind)s") }

    private static func member(_ name: UnsafeRawBufferPointer) -> Member? {
        switch name.count {
        case 2 where name.isText("id"): .id
        case 4 where name.isText("name"): .name
        case 7 where name.isText("counter"): .deepCount
        case 9 where name.isText("nb_images"): .count
        case 9 where name.isText("date_last"): .newest
        case 15 where name.isText("total_nb_images"): .deepCount
        case 25 where name.isText("representative_picture_id"): .cover
        default: nil
        }
    }
}
