import Glibc
import Numbers

extension HTTPRequest {
    /// The beginning of a body that an earlier transfer received.
    ///
    /// If the server's resource still matches the validator, the server sends the rest, otherwise the whole resource.
    /// In a file, the rest is written at the offset, and a whole resource replaces the earlier bytes.
    public struct Resumption: Hashable, Sendable {
        /// The number of bytes that an earlier transfer received.
        public let offset: ByteCount
        /// The strong validator of the earlier answer: see ``HTTPResponse/resumptionValidator``.
        public let validator: String
        /// The URL that answered after redirects; nil for the request's URL.
        ///
        /// A validator belongs to one URL. RFC 9110, section 8.8.1: "there is no implication of uniqueness across
        /// representations of different resources". So the client requests the rest only from that URL, wherever a
        /// redirect leads.
        public let url: String?
        /// The length of the whole resource in the earlier answer; nil if the answer stated no length. The answer with
        /// the rest must state the same length.
        public let whole: ByteCount?

        /// Creates a resumption.
        public init(offset: ByteCount, validator: String, url: String? = nil, whole: ByteCount? = nil) {
            self.whole = whole
            self.offset = offset
            self.validator = validator
            self.url = url
        }

        /// Returns whether an answer continues the same version of the resource.
        ///
        /// RFC 9110, section 15.3.7.3: parts may be combined "if they all share the same strong validator". Some
        /// servers and caches ignore If-Range, so an answer without the validator proves nothing.
        func isOfEdition(_ headers: [String: String], whole: ByteCount) -> Bool {
            headers[validator.hasPrefix("\"") ? "etag" : "last-modified"] == validator
                && (self.whole ?? whole) == whole
        }
    }

    /// Returns the resumption to use at a redirect's target. Returns nil if the resumption does not apply to that URL.
    func resumption(at hop: Hop) -> Resumption? {
        guard let resumption, isBeginningThere, !resumption.validator.hasPrefix("W/"),
            hop.isOwn || resumption.url != nil, hop.url == (try? HTTPURL(resumption.url ?? url, hop.url.curl))
        else { return nil }
        return resumption
    }

    /// Returns the range to request at a redirect's target. Returns nil for the whole resource.
    func part(at hop: Hop) -> Range<ByteCount>? {
        guard resumption != nil else { return range }
        return resumption(at: hop).map { $0.offset..<(range?.upperBound ?? .most) }
    }

    /// Whether the file is long enough for the resumption. Otherwise, resuming would leave a hole in the file.
    var isBeginningThere: Bool {
        guard let resumption, resumption.offset > 0, resumption.offset < limit else { return false }
        guard case .file(let file) = destination else { return true }
        return file.size.map { $0 >= resumption.offset } ?? false
    }
}

extension HTTPResponse {
    /// The validator for a resumption: a strong entity tag, or a strong date. The value is nil if the answer has
    /// neither.
    ///
    /// RFC 9110, section 13.1.5: "A client MUST NOT generate an If-Range header field containing an entity tag that is
    /// marked as weak". Section 8.8.2.2 calls a date strong if there is "enough difference between the Last-Modified
    /// and Date values to make clock synchronization issues unlikely"; a minute is enough. If the answer has a weak
    /// tag, its date is ignored.
    public var resumptionValidator: String? {
        if let tag = headers["etag"] {
            let isStrong = tag.utf8.count >= 2 && tag.hasPrefix("\"") && tag.hasSuffix("\"")
            let inside = tag.utf8.dropFirst().dropLast()
            // Section 8.8.3: etagc = %x21 / %x23-7E / obs-text.
            return isStrong && inside.allSatisfy { $0 > 0x20 && $0 != 0x22 && $0 != 0x7F } ? tag : nil
        }
        guard let age = secondsSinceChange, age >= 60 else { return nil }
        return headers["last-modified"]
    }

    /// The number of seconds from the date in `Last-Modified` to that in `Date`. The number is negative for a date in
    /// the future. The value is nil if the answer lacks a date.
    public var secondsSinceChange: Int? {
        guard let text = headers["last-modified"], let date = headers["date"] else { return nil }
        return HTTPDate.seconds(from: text, to: date)
    }
}

extension BodyFile {
    /// The length of the file; nil if the system does not state it.
    var size: ByteCount? {
        var status = stat()
        return fstat(descriptor, &status) == 0 ? ByteCount(status.st_size) : nil
    }
}

/// The range that an answer states in `Content-Range` (RFC 9110, section 14.4).
struct ContentRange: Equatable {
    let first: ByteCount
    let last: ByteCount
    let whole: ByteCount

    /// Parses `bytes 7-99/100`. Returns nil for any other form.
    ///
    /// - Parameter unknown: the total length to assume for `bytes 7-99/*`; nil to refuse that form.
    init?(_ text: String?, unknown: ByteCount? = nil) {
        guard let text, text.lowercased().hasPrefix("bytes ") else { return nil }
        let numbers = text.dropFirst("bytes ".count).split(separator: "/", omittingEmptySubsequences: false)
        guard numbers.count == 2 else { return nil }
        let ends = numbers[0].split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2, let first = ByteCount(digits: ends[0]), let last = ByteCount(digits: ends[1]),
            let whole = numbers[1] == "*" ? unknown : ByteCount(digits: numbers[1]), first <= last, last < whole
        else { return nil }
        (self.first, self.last, self.whole) = (first, last, whole)
    }

    /// Returns whether the range is the requested part. The part may extend beyond the end of the resource.
    func isAnswer(to part: Range<ByteCount>) -> Bool {
        first == part.lowerBound && last == min(part.upperBound, whole) - 1
    }
}

/// A request for some bytes of a resource, and the answers to it.
struct WantedBytes {
    /// The bytes to fetch.
    let range: Range<ByteCount>

    /// The way to use an answer's body.
    enum Body: Equatable {
        /// The body is not the requested part of the resource.
        case unwanted
        /// The body contains only requested bytes. The value is their range; nil if curl itself checks the length.
        case complete(Range<ByteCount>?)
        /// The body is the resource from its beginning. It may continue after the requested bytes.
        case open
    }

    /// The value of the `Range` header.
    var header: String { "bytes=\(range.lowerBound)-\(max(range.upperBound, range.lowerBound + 1) - 1)" }

    /// Returns the way to use an answer's body. Also returns the length of the whole resource, if the answer states the
    /// length.
    ///
    /// - Parameter length: the stated length of the answer's body; nil if unknown.
    func judge(
        status: Int, _ headers: [String: String], length: ByteCount?
    ) throws(HTTPError) -> (body: Body, whole: ByteCount?) {
        let coding = headers["content-encoding"]?.lowercased() ?? "identity"
        switch status {
        case 200:
            // A server without ranges also sends the bytes before the requested ones, perhaps gigabytes.
            guard range.lowerBound == 0 else { return (.unwanted, length) }
            guard coding == "identity" else { throw .malformed("it is compressed") }
            return (length.map { $0 <= range.upperBound } ?? false ? .complete(nil) : .open, length)
        case 206:
            guard coding == "identity" else { throw .malformed("it is compressed") }
            // RFC 9110, section 15.3.7: a server may send "only a subset of the data requested".
            guard let sent = ContentRange(headers["content-range"], unknown: .most), sent.first == range.lowerBound,
                sent.last < range.upperBound
            else { throw .malformed("it is a different range") }
            guard length == nil || length == sent.last - sent.first + 1 else {
                throw .malformed("its lengths contradict each other")
            }
            return (.complete(sent.first..<sent.last + 1), sent.whole < .most ? sent.whole : nil)
        case 416:
            // Only an empty resource has no first byte.
            let isEmpty = range.lowerBound == 0 && headers["content-range"] ?? "bytes */0" == "bytes */0"
            return (.unwanted, isEmpty ? 0 : nil)
        default: return (.unwanted, length)
        }
    }
}

extension HTTPRequest {
    /// The part to fetch; nil for the whole resource, for a resumption, or for a piece.
    var excerpt: WantedBytes? {
        guard method == .get, resumption == nil, range == nil else { return nil }
        return wantedBytes.map(WantedBytes.init)
    }
}
