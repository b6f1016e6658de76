import Numbers

/// A request for the first bytes of a resource, and the answers to it.
struct FirstBytes {
    /// The number of bytes to fetch.
    let count: ByteCount

    /// The use of an answer's body.
    enum Body: Equatable {
        /// The body is no part of the resource.
        case unwanted
        /// The body has at most the requested number of bytes. The length is nil if curl checks it.
        case complete(ByteCount?)
        /// The body may go on after the requested number of bytes.
        case open
    }

    /// The value of the `Range` header.
    var header: String { "bytes=0-\(max(count, 1) - 1)" }

    /// Returns the use of an answer's body. Also returns the length of the whole resource, if the answer states it.
    ///
    /// - Parameter length: the stated length of the answer's body; nil if unknown.
    func judge(
        status: Int, _ headers: [String: String], length: ByteCount?
    ) throws(HTTPError) -> (body: Body, whole: ByteCount?) {
        let coding = headers["content-encoding"]?.lowercased() ?? "identity"
        switch status {
        case 200:
            guard coding == "identity" else { throw .malformed("it is compressed") }
            return (length.map { $0 <= count } ?? false ? .complete(nil) : .open, length)
        case 206:
            guard coding == "identity" else { throw .malformed("it is compressed") }
            // RFC 9110, section 15.3.7: a server may send "only a subset of the data requested".
            guard let range = ContentRange(headers["content-range"], unknown: .most), range.first == 0,
                range.last < count
            else { throw .malformed("it is a different range") }
            guard length == nil || length == range.last + 1 else {
                throw .malformed("its lengths contradict each other")
            }
            return (.complete(range.last + 1), range.whole < .most ? range.whole : nil)
        case 416:
            // Only an empty resource has no first byte.
            return (.unwanted, headers["content-range"] ?? "bytes */0" == "bytes */0" ? 0 : nil)
        default: return (.unwanted, length)
        }
    }
}

extension HTTPRequest {
    /// The first bytes to fetch; nil for the whole resource or another part.
    var beginning: FirstBytes? {
        guard method == .get, resumption == nil, range == nil else { return nil }
        return firstBytes.map(FirstBytes.init)
    }
}
