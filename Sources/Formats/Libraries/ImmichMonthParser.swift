import Model

/// Parses an Immich server's list of months. Each month has a count of photos and videos.
///
///     [{"timeBucket": "2024-05-01", "count": 42}]
public final class ImmichMonthListParser: LibraryParser {
    private var stream = JSONPushStream()
    private var reader = Reader()

    /// Creates a parser for one answer.
    public init() {}

    /// Always nil, because the list has only one page.
    public var nextPage: String? { nil }

    /// Parses the next bytes. Returns the months that are complete.
    public func parse(_ bytes: [UInt8]) throws -> [LibraryPart] {
        try stream.push(bytes, to: &reader)
        return reader.takeMonths()
    }

    /// Parses the end of the document. Throws if the answer is incomplete, or is no list of months.
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

/// Parses the ids in an Immich server's list of one month. The list has an array for each property of the month's
/// photos and videos.
///
///     {"id": ["…", "…"], "isImage": [true, false], …}
public final class ImmichMonthParser: LibraryParser {
    private var stream = JSONPushStream()
    private var reader = Reader()

    /// The maximum number of photos and videos of a month.
    private static let maximumCount = 1_000_000

    /// Creates a parser for one answer.
    public init() {}

    /// Always nil, because the list has only one page.
    public var nextPage: String? { nil }

    /// Parses the next bytes. Returns the photos and videos whose ids are complete.
    public func parse(_ bytes: [UInt8]) throws -> [LibraryMember] {
        try stream.push(bytes, to: &reader)
        return reader.takeIDs().map { LibraryMember(id: $0) }
    }

    /// Parses the end of the document. Throws if the answer is incomplete, or is no list of a month.
    public func finish() throws -> [LibraryMember] {
        try stream.finish(to: &reader)
        guard reader.hasIDs else { throw FormatError.notAGallery("a month without ids") }
        return reader.takeIDs().map { LibraryMember(id: $0) }
    }

    private struct Reader: JSONConsumer {
        private var ids: [String] = []
        private var count = 0
        private(set) var hasIDs = false
        private var isID = false

        /// Returns the ids since the last call.
        mutating func takeIDs() -> [String] {
            defer { ids = [] }
            return ids
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
                ids.append(id)
            default: break
            }
        }
    }
}
