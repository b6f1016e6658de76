import Model

/// Parses a PhotoPrism server's months, with counts of photos and videos.
///
///     [{"Year": 2024, "Month": 5, "PhotoCount": 42}]
public final class PhotoPrismMonthListParser: LibraryParser {
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
        private enum Member { case year, month, count }

        private var months: [LibraryPart] = []
        private var member: Member?
        private var (year, month): (Int?, Int?)
        private var count: String?

        mutating func takeMonths() -> [LibraryPart] {
            defer { months = [] }
            return months
        }

        mutating func take(_ event: JSONEvent, depth: Int) throws {
            switch (depth, event) {
            case (0, .beginArray), (0, .endArray): break
            case (0, _): throw FormatError.notAGallery("an answer without months")
            case (1, .beginObject): (year, month, count, member) = (nil, nil, nil, nil)
            case (1, .endObject):
                guard let count else { throw FormatError.notAGallery("a month without a count") }
                // The server also counts photos without a date. They belong to no part.
                guard let name = PhotoPrismText.month(year: year, month: month) else { return }
                months.append(LibraryPart(name: name, count: count))
            case (1, _): throw FormatError.notAGallery("a list without months")
            case (2, .key(let key)):
                member =
                    key.isText("Year") ? .year : key.isText("Month") ? .month : key.isText("PhotoCount") ? .count : nil
            case (2, .number(let text)):
                switch member {
                case .year: year = PhotoPrismText.number(text, upTo: 9_999)
                case .month: month = PhotoPrismText.number(text, upTo: 12)
                case .count: count = String(decoding: text, as: UTF8.self)
                case nil: break
                }
            default: break
            }
        }
    }
}
