/// The header lines of an answer, as curl hands them out one by one; with redirects, those of the last answer.
struct ResponseHead {
    private(set) var headers: [String: String] = [:]
    private var status = 0
    /// Whether the empty line after the last has come.
    private(set) var isComplete = false
    /// Bytes of all header lines, those of redirects included.
    private var size = 0

    /// More than any server sends, and little enough to keep.
    private static let maximumSize = 1 << 16

    /// Takes one line; false if there have been too many.
    mutating func take(_ line: UnsafeRawBufferPointer) -> Bool {
        size += line.count
        guard size <= Self.maximumSize else { return false }
        let text = String(decoding: line, as: UTF8.self)
        if text.hasPrefix("HTTP/") {
            headers = [:]
            status = text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
            isComplete = false
            return true
        }
        isComplete = text.allSatisfy(\.isNewline)
        guard let colon = text.firstIndex(of: ":") else { return true }
        headers[text[..<colon].lowercased()] = text[text.index(after: colon)...].trimmed
        return true
    }

    /// Whether the answer so far sends one on to that scheme.
    func isRedirect(to scheme: String) -> Bool {
        status / 100 == 3 && headers["location"]?.lowercased().hasPrefix(scheme) ?? false
    }

    /// The length that the body of a successful answer is said to have, once the head is complete; of a number beyond all
    /// bounds the largest there is.
    var declaredLength: Int64? {
        // RFC 9112, section 6.3: "the Transfer-Encoding overrides the Content-Length".
        guard isComplete, status == 200, headers["transfer-encoding"] == nil, let digits = headers["content-length"],
            !digits.isEmpty, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) })
        else { return nil }
        return Int64(digits) ?? .max
    }
}

extension Substring {
    /// Without the white space that may stand around a header's value, and the line's end.
    fileprivate var trimmed: String {
        var text = drop { $0.isWhitespace }
        while text.last?.isWhitespace == true { text.removeLast() }
        return String(text)
    }
}
