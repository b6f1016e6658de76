import Model

/// Parses an Immich server's list of months. Each month has a count of photos and videos.
///
///     [{"timeBucket": "2024-05-01", "count": 42}]
public final class ImmichMonthListParser: LibraryParser {
    private var answer = JSONAnswer(Reader())

    /// Creates a parser for one answer.
    public init() {}

    /// Parses the next bytes. Returns the months that are complete.
    public func parse(_ bytes: [UInt8]) throws -> [LibraryPart] { try answer.parse(bytes) }

    /// Parses the end of the document. Throws if the answer is incomplete, or is no list of months.
    public func finish() throws -> [LibraryPart] { try answer.finish() }

    private struct Reader: ItemReader {
        private enum Member { case name, count }

        var items: [LibraryPart] = []
        private var member: Member?
        private var (name, count): (String?, String?)

        mutating func take(_ event: JSONEvent, depth: Int) throws {
            switch (depth, event) {
            case (0, .beginArray), (0, .endArray): break
            case (0, _): throw FormatError.notAGallery("an answer without months")
            case (1, .beginObject): (name, count, member) = (nil, nil, nil)
            case (1, .endObject):
                guard let name, let count else { throw FormatError.notAGallery("a month without a count") }
                items.append(LibraryPart(name: name, count: count))
            case (2, .key(let key)):
                member = key.isText("timeBucket") ? .name : key.isText("count") ? .count : nil
            case (2, .string(let text)) where member == .name: name = ImmichMonth.name(text)
            case (2, .number(let text)) where member == .count: count = String(decoding: text, as: UTF8.self)
            default: break
            }
        }
    }
}

/// Parses the ids in an Immich server's list of one month. The list has an array for each property of the month's
/// photos and videos.
///
///     {"id": ["…", "…"], "isImage": [true, false], …}
public final class ImmichMonthParser: LibraryParser {
    private var answer = JSONAnswer(Reader())

    /// The maximum number of photos and videos of a month.
    private static let maximumCount = 1_000_000

    /// Creates a parser for one answer.
    public init() {}

    /// Parses the next bytes. Returns the photos and videos whose ids are complete.
    public func parse(_ bytes: [UInt8]) throws -> [LibraryMember] { try answer.parse(bytes) }

    /// Parses the end of the document. Throws if the answer is incomplete, or is no list of a month.
    public func finish() throws -> [LibraryMember] { try answer.finish() }

    private struct Reader: ItemReader {
        var items: [LibraryMember] = []
        private var count = 0
        private var hasIDs = false
        private var isID = false

        func check() throws {
            guard hasIDs else { throw FormatError.notAGallery("a month without ids") }
        }

        mutating func take(_ event: JSONEvent, depth: Int) throws {
            switch (depth, event) {
            case (0, .beginObject), (0, .endObject): break
            case (0, _): throw FormatError.notAGallery("a month without ids")
            case (1, .key(let key)): isID = key.isText("id")
            case (1, .beginArray) where isID: hasIDs = true
            case (2, .string(let text)) where isID:
                count += 1
                guard let id = ImmichID.text(text), count <= ImmichMonthParser.maximumCount else {
                    throw FormatError.notAGallery("a month with an unknown id")
                }
                items.append(LibraryMember(id: id))
            default: break
            }
        }
    }
}
