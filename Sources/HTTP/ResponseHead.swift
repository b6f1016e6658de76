/// The header lines of an answer, as curl hands them out one by one; with redirects, those of the last answer.
struct ResponseHead {
    private(set) var headers: [String: String] = [:]
    private var isRedirect = false
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
            isRedirect = text.split(separator: " ").dropFirst().first?.hasPrefix("3") ?? false
            return true
        }
        guard let colon = text.firstIndex(of: ":") else { return true }
        headers[text[..<colon].lowercased()] = text[text.index(after: colon)...].trimmed
        return true
    }

    /// Whether the answer so far sends one on to that scheme.
    func isRedirect(to scheme: String) -> Bool {
        isRedirect && headers["location"]?.lowercased().hasPrefix(scheme) ?? false
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
