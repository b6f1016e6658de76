import Model

/// Parses an Immich server's months, with counts of photos and videos.
///
///     [{"timeBucket": "2024-05-01", "count": 42}]
public final class ImmichMonthListParser: LibraryParser {
    private var stream = JSONPushStream()
    private var reader = Reader()

    /// Creates a parser for one answer.
    public init() {}

    /// The list has one page.
    public var nextPage: String? { nil }

    /// Parses the next bytes. Returns the months that are complete.
    public func parse(_ bytes: [UInt8]) throws -> [LibraryPart] {
        try stream.push(bytes, to: &reader)
        return reader.takeMonths()
    }

    /// Parses the end. Throws if the answer is incomplete, or is no list of months.
    public func finish() throws -> [LibraryPart] {
        try stream.finish(to: &reader)
        return reader.takeMonths()
    }

    private struct Reader: JSONConsumer {
        private enum Member { case name, count }

        private var months: [LibraryPart] = []
        private var member: Member?
        private var (name, count): (String?, String?)

        mutating func takeMonths() -> [LibraryPart] {
            defer { months = [] }
            return months
        }

        mutating func take(_ event: JSONEvent, depth: Int) throws {
            switch (depth, event) {
            case (0, .beginArray), (0, .endArray): break
            case (0, _): throw FormatError.notAGallery("an answer without months")
            case (1, .beginObject): (name, count, member) = (nil, nil, nil)
            case (1, .endObject):
                guard let name, let count else { throw FormatError.notAGallery("a month without a count") }
                months.append(LibraryPart(name: name, count: count))
            case (2, .key(let key)):
                member = key.elementsEqual("timeBucket".utf8) ? .name : key.elementsEqual("count".utf8) ? .count : nil
            case (2, .string(let text)) where member == .name: name = ImmichMonth.name(text)
            case (2, .number(let text)) where member == .count: count = String(decoding: text, as: UTF8.self)
            default: break
            }
        }
    }
}

/// Parses an Immich server's list of one month's photos and videos. The list has columns.
///
///     {"id": ["…", "…"], "isImage": [true, false], …}
///
/// The parser holds the ids until the end of the answer, because the columns come one after the other.
public final class ImmichMonthParser: LibraryParser {
    private var stream = JSONPushStream()
    private var reader = Reader()

    /// The most photos and videos of a month.
    private static let maximumCount = 1_000_000

    /// Creates a parser for one answer.
    public init() {}

    /// The list has one page.
    public var nextPage: String? { nil }

    /// Parses the next bytes. Returns nothing.
    public func parse(_ bytes: [UInt8]) throws -> [LibraryMember] {
        try stream.push(bytes, to: &reader)
        return []
    }

    /// Parses the end. Returns all photos and videos. Throws if the answer is incomplete, or is no list of a month.
    public func finish() throws -> [LibraryMember] {
        try stream.finish(to: &reader)
        guard reader.hasIDs, reader.arePhotos.count == reader.ids.count else {
            throw FormatError.notAGallery("a month without ids")
        }
        return zip(reader.ids, reader.arePhotos).map { LibraryMember(id: $0, isPhoto: $1) }
    }

    private struct Reader: JSONConsumer {
        private enum Column { case id, isPhoto }

        private(set) var ids: [String] = []
        private(set) var arePhotos: [Bool] = []
        private(set) var hasIDs = false
        private var column: Column?

        mutating func take(_ event: JSONEvent, depth: Int) throws {
            switch (depth, event) {
            case (0, .beginObject), (0, .endObject): break
            case (0, _): throw FormatError.notAGallery("a month without ids")
            case (1, .key(let key)):
                column = key.elementsEqual("id".utf8) ? .id : key.elementsEqual("isImage".utf8) ? .isPhoto : nil
            case (1, .beginArray) where column == .id: hasIDs = true
            case (2, .string(let text)) where column == .id:
                guard let id = ImmichID.text(text), ids.count < ImmichMonthParser.maximumCount else {
                    throw FormatError.notAGallery("a month with an unknown id")
                }
                ids.append(id)
            case (2, .bool(let value)) where column == .isPhoto:
                guard arePhotos.count < ImmichMonthParser.maximumCount else {
                    throw FormatError.notAGallery("a month with too many photos")
                }
                arePhotos.append(value)
            default: break
            }
        }
    }
}
