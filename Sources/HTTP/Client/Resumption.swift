import Glibc
import Numbers

extension HTTPRequest {
    /// Where to go on with a body of which the beginning is there.
    ///
    /// The server sends the rest if what it has is still what the validator was given for, and the whole otherwise. Into a
    /// file the rest goes at the offset, and the whole in place of what was there.
    public struct Resumption: Hashable, Sendable {
        /// Bytes that are there.
        public let offset: ByteCount
        /// A strong validator of the answer that they came with: see ``HTTPResponse/resumptionValidator``.
        public let validator: String
        /// Where that answer came from in the end. Without it the URL of the request is meant.
        ///
        /// A validator is of one URL only: RFC 9110, section 8.8.1, "there is no implication of uniqueness across
        /// representations of different resources". So the rest is asked for there, wherever a redirect leads, and nowhere
        /// else.
        public let url: String?
        /// The length of the whole as that answer stated it; nil where it stated none. The rest must state the same.
        public let whole: ByteCount?

        /// States what is there.
        public init(offset: ByteCount, validator: String, url: String? = nil, whole: ByteCount? = nil) {
            self.whole = whole
            self.offset = offset
            self.validator = validator
            self.url = url
        }

        /// Whether an answer holds the rest of the same edition. RFC 9110, section 15.3.7.3: parts may be combined "if they
        /// all share the same strong validator". Some servers, and caches before them, ignore If-Range, so an answer without
        /// the validator proves nothing.
        func isOfEdition(_ headers: [String: String], whole: ByteCount) -> Bool {
            headers[validator.hasPrefix("\"") ? "etag" : "last-modified"] == validator
                && (self.whole ?? whole) == whole
        }
    }

    /// What may be asked for at a hop.
    func resumption(at hop: Hop) -> Resumption? {
        guard let resumption, isBeginningThere, !resumption.validator.hasPrefix("W/"),
            hop.isOwn || resumption.url != nil, hop.url == (try? HTTPURL(resumption.url ?? url, hop.url.curl))
        else { return nil }
        return resumption
    }

    /// The part of the whole that is asked for at a hop; nil if that is all.
    func part(at hop: Hop) -> Range<ByteCount>? {
        guard resumption != nil else { return range }
        return resumption(at: hop).map { $0.offset..<(range?.upperBound ?? .most) }
    }

    /// Whether there is what the resumption says. Behind the end of a file that is shorter there would be a hole.
    var isBeginningThere: Bool {
        guard let resumption, resumption.offset > 0, resumption.offset < limit else { return false }
        guard case .file(let file) = destination else { return true }
        return file.size.map { $0 >= resumption.offset } ?? false
    }
}

extension HTTPResponse {
    /// What to go on by if the body breaks off: a strong entity tag, or a date that is as good as one; nil if there is
    /// neither.
    ///
    /// RFC 9110, section 13.1.5: "A client MUST NOT generate an If-Range header field containing an entity tag that is
    /// marked as weak", and of dates only those that section 8.8.2.2 calls strong: there must be "enough difference between
    /// the Last-Modified and Date values to make clock synchronization issues unlikely". A minute is. And a date will not do
    /// where there is a tag, though a weak one.
    public var resumptionValidator: String? {
        if let tag = headers["etag"] {
            let isStrong = tag.utf8.count >= 2 && tag.hasPrefix("\"") && tag.hasSuffix("\"")
            let inside = tag.utf8.dropFirst().dropLast()
            // Section 8.8.3: etagc = %x21 / %x23-7E / obs-text.
            return isStrong && inside.allSatisfy { $0 > 0x20 && $0 != 0x22 && $0 != 0x7F } ? tag : nil
        }
        guard let text = headers["last-modified"], let date = headers["date"],
            let age = HTTPDate.seconds(from: text, to: date), age >= 60
        else { return nil }
        return text
    }
}

extension BodyFile {
    /// How long the file is; nil if that cannot be known.
    var size: ByteCount? {
        var status = stat()
        return fstat(descriptor, &status) == 0 ? ByteCount(status.st_size) : nil
    }
}

/// The part of a whole that an answer says it holds (RFC 9110, section 14.4).
struct ContentRange: Equatable {
    let first: ByteCount
    let last: ByteCount
    let whole: ByteCount

    /// Reads `bytes 7-99/100`. A whole of unknown length is no use here, and anything odd is nil.
    init?(_ text: String?) {
        guard let text, text.lowercased().hasPrefix("bytes ") else { return nil }
        let numbers = text.dropFirst("bytes ".count).split(separator: "/", omittingEmptySubsequences: false)
        guard numbers.count == 2 else { return nil }
        let ends = numbers[0].split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2, let first = ByteCount(digits: ends[0]), let last = ByteCount(digits: ends[1]),
            let whole = ByteCount(digits: numbers[1]), first <= last, last < whole
        else { return nil }
        (self.first, self.last, self.whole) = (first, last, whole)
    }

    /// Whether it is all that there is of a part.
    func isAnswer(to part: Range<ByteCount>) -> Bool {
        first == part.lowerBound && last == min(part.upperBound, whole) - 1
    }
}
