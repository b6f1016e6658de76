/// A URL or reference, cut at its delimiters (RFC 3986, appendix B) and not yet judged.
struct AddressParts {
    let scheme: String?
    let authority: String?
    let path: String
    let query: String?

    init(_ text: String) throws(AddressError) {
        guard !text.isEmpty else { throw .empty }
        guard text.utf8.count <= Address.maximumLength else { throw .tooLong }
        guard text.unicodeScalars.allSatisfy({ $0.value >= 0x20 && !(0x7F...0x9F).contains($0.value) }) else {
            throw .controlCharacter
        }
        var rest = Substring(text)
        if let hash = rest.firstIndex(of: "#") { rest = rest[..<hash] }
        scheme = Self.takeScheme(from: &rest)
        if let mark = rest.firstIndex(of: "?") {
            query = String(rest[rest.index(after: mark)...])
            rest = rest[..<mark]
        } else {
            query = nil
        }
        if rest.hasPrefix("//") {
            let afterSlashes = rest.dropFirst(2)
            let end = afterSlashes.firstIndex(of: "/") ?? afterSlashes.endIndex
            authority = String(afterSlashes[..<end])
            path = String(afterSlashes[end...])
        } else {
            authority = nil
            path = String(rest)
        }
    }

    /// A letter, then letters, digits, `+`, `-` and `.` up to a colon; a colon after a slash is part of a path.
    private static func takeScheme(from rest: inout Substring) -> String? {
        guard let colon = rest.firstIndex(of: ":"), let first = rest.utf8.first,
            isLetter(first),
            rest[..<colon].utf8.allSatisfy({ isLetter($0) || isDigit($0) || [0x2B, 0x2D, 0x2E].contains($0) })
        else { return nil }
        let scheme = String(rest[..<colon])
        rest = rest[rest.index(after: colon)...]
        return scheme
    }

    private static func isLetter(_ byte: UInt8) -> Bool { (0x61...0x7A).contains(byte | 0x20) }
    private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }
}
