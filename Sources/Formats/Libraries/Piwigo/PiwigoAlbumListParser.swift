import Model

/// Parses a Piwigo server's list of albums.
///
///     {"stat": "ok", "result": {"categories": [{"id": 7, "nb_images": 42, "date_last": "2024-05-06 07:08:09", …}]}}
public final class PiwigoAlbumListParser: LibraryParser {
    private var answer = PiwigoAnswer(Reader())

    /// Creates a parser for one answer.
    public init() {}

    /// The list has one page.
    public var nextPage: String? { nil }

    /// Parses the next bytes. Returns the albums that are complete.
    public func parse(_ bytes: [UInt8]) throws -> [LibraryPart] {
        try answer.parse(bytes)
        return answer.result.takeAlbums()
    }

    /// Parses the end. Throws if the answer is incomplete, or is no list of albums.
    public func finish() throws -> [LibraryPart] {
        try answer.finish()
        guard answer.result.isList else { throw FormatError.notAGallery("an answer without albums") }
        return answer.result.takeAlbums()
    }

    private struct Reader: JSONConsumer {
        private enum Member { case id, count, newest }

        private var albums: [LibraryPart] = []
        private var isInList = false
        private(set) var isList = false
        private var isNamedList = false
        private var member: Member?
        private var (id, count, newest): (String?, Int?, Timestamp?)

        mutating func takeAlbums() -> [LibraryPart] {
            defer { albums = [] }
            return albums
        }

        mutating func take(_ event: JSONEvent, depth: Int) throws {
            switch (depth, event) {
            case (0, .beginObject), (0, .endObject): break
            case (0, _): throw FormatError.notAGallery("an answer without albums")
            case (1, .key(let name)): isNamedList = name.elementsEqual("categories".utf8)
            case (1, .beginArray) where isNamedList: (isInList, isList) = (true, true)
            case (1, .endArray): isInList = false
            case (2, .beginObject) where isInList: (id, count, newest, member) = (nil, nil, nil, nil)
            case (2, .endObject) where isInList:
                guard let id, let count else { throw FormatError.notAGallery("an album without a count") }
                // The newest photo's date changes if one photo goes and another comes.
                albums.append(LibraryPart(name: id, count: "\(count) \(newest?.iso8601 ?? "")"))
            case (3, .key(let name)) where isInList:
                member =
                    switch name.count {
                    case 2 where name.isText("id"): .id
                    case 9 where name.isText("nb_images"): .count
                    case 9 where name.isText("date_last"): .newest
                    default: nil
                    }
            case (3, _) where member == .id: id = PiwigoValue.id(event)
            case (3, _) where member == .count: count = PiwigoValue.number(event)
            case (3, _) where member == .newest: newest = PiwigoValue.time(event)
            default: break
            }
        }
    }
}
