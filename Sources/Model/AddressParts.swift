import Text

/// A URL or reference split at its delimiters (RFC 3986, appendix B), not yet validated.
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

    /// Removes a scheme from the start of a string and returns it. Returns nil if the string has no scheme. A
    /// colon after a slash belongs to the path.
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

/// The authority of a URL: `user:password@host:port`.
struct AddressAuthority {
    let host: String
    let port: Int?
    let credentials: Address.Credentials?

    init(_ text: String) throws(AddressError) {
        // Some clients end the host at a backslash, others treat it as part of the user name, so the host is ambiguous.
        guard !text.utf8.contains(UInt8(ascii: "\\")) else { throw .host(Self.withoutPassword(text)) }
        var rest = Substring(text)
        // The host follows the last @: a password may contain an unencoded @, but a host cannot.
        if let at = rest.lastIndex(of: "@") {
            let pair = rest[..<at].split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            // A user alone is no sign-in, because servers refuse an empty password that the user did not mean.
            credentials =
                pair.count == 1
                ? nil
                : Address.Credentials(
                    user: PercentEncoding.decode(String(pair[0])), password: PercentEncoding.decode(String(pair[1])))
            rest = rest[rest.index(after: at)...]
        } else {
            credentials = nil
        }
        let bracket = rest.hasPrefix("[") ? rest.firstIndex(of: "]") : nil
        if let colon = rest[(bracket ?? rest.startIndex)...].firstIndex(of: ":") {
            port = try Self.port(rest[rest.index(after: colon)...])
            rest = rest[..<colon]
        } else {
            port = nil
        }
        guard !rest.isEmpty else { throw .noHost }
        // Store the form for DNS, so that all spellings of a host give the same address.
        guard let host = HostName.ascii(String(rest)), Self.isHost(host, bracketed: bracket != nil) else {
            throw .host(String(rest))
        }
        self.host = host
    }

    private static func withoutPassword(_ text: String) -> String {
        guard let at = text.lastIndex(of: "@"), text[..<at].contains(":") else { return text }
        return String(text[text.index(after: at)...])
    }

    private static func port(_ digits: Substring) throws(AddressError) -> Int? {
        if digits.isEmpty { return nil }
        guard digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let port = Int(digits),
            (1...65_535).contains(port)
        else { throw .port(String(digits)) }
        return port
    }

    private static func isHost(_ host: String, bracketed: Bool) -> Bool {
        if bracketed {
            return host.hasSuffix("]")
                && host.utf8.dropFirst().dropLast().allSatisfy { "0123456789abcdef:.".utf8.contains($0) }
        }
        return host.utf8.allSatisfy { byte in
            switch byte {
            case 0x61...0x7A, 0x30...0x39, UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"): true
            default: false
            }
        }
    }
}

/// Normalises the paths of URLs.
enum AddressPath {
    static func normalised(_ path: String) -> String {
        let encoded = PercentEncoding.encode(path, keepingEscapes: true, also: "/")
        return withoutDotSegments(encoded.hasPrefix("/") ? encoded : "/" + encoded)
    }

    /// Removes `.` and `..` from a path (RFC 3986, section 5.2.4). A `..` at the root has no effect.
    static func withoutDotSegments(_ path: String) -> String {
        var kept: [Substring] = []
        let segments = path.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
        for (index, segment) in segments.enumerated() {
            let isLast = index == segments.count - 1
            // Servers may decode `%2e` before they look for dots, so it counts as a dot.
            switch segment.utf8.count <= 6 ? segment.lowercased() : "" {
            case ".", "%2e":
                if isLast { kept.append("") }
            case "..", ".%2e", "%2e.", "%2e%2e":
                if !kept.isEmpty { kept.removeLast() }
                if isLast { kept.append("") }
            default:
                kept.append(segment)
            }
        }
        return "/" + kept.joined(separator: "/")
    }
}

/// Resolves the simple relative references that nearly all galleries use, without parsing a URL.
///
/// A simple reference is a path below the document's folder, and consists of letters, digits and a few signs. The path
/// is in normal form, so the address is the folder's address followed by the reference. A gallery may have two million
/// references, and parsing each as a URL would take most of the time of an update.
public struct PlainReference: Sendable {
    /// The address of the document's folder, as UTF-8.
    private let beginning: [UInt8]

    /// - Parameter base: the address of the document.
    public init(base: Address) {
        let folder = Address(
            scheme: base.scheme, host: base.host, port: base.port, path: base.folderPath, query: nil, credentials: nil)
        beginning = Array(folder.text.utf8)
    }

    /// Appends the address of a reference to an entry. The appended bytes equal the ``Address/text`` of the address
    /// that ``Address/resolving(_:)`` returns.
    ///
    /// A gallery may always refer to pictures in its own folder, so the caller need not check ``Address/mayName(_:)``.
    /// Returns false, and appends nothing, if the reference is not simple or the address would be too long.
    public func append(_ reference: UnsafeRawBufferPointer, to entry: inout EntryBytes) -> Bool {
        guard beginning.count + reference.count <= Address.maximumLength, Self.isPlain(reference) else { return false }
        entry.append(beginning)
        entry.append(reference)
        return true
    }

    static func isPlain(_ reference: some Collection<UInt8>) -> Bool {
        var before = UInt8(ascii: "/")
        var count = 0
        for byte in reference {
            count += 1
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "_"): break
            // Double slashes and leading dots have a special meaning.
            case UInt8(ascii: "/"), UInt8(ascii: "."): guard before != UInt8(ascii: "/") else { return false }
            default: return false
            }
            before = byte
        }
        return before != UInt8(ascii: "/") && count <= Address.maximumLength
    }

    /// Returns whether a reference is a path in normal form from the server's root. Many servers list files by such
    /// paths. The path may have escapes, but no escaped dots.
    static func isPlainPath(_ reference: some Collection<UInt8>) -> Bool {
        guard reference.first == UInt8(ascii: "/") else { return false }
        var before: UInt8 = 0
        var count = 0
        // The number of hexadecimal digits that must still follow a percent sign.
        var digits = 0
        for byte in reference {
            count += 1
            if digits > 0 {
                let isDot = digits == 1 && before == UInt8(ascii: "2") && byte | 0x20 == UInt8(ascii: "e")
                guard PercentEncoding.value(of: byte) != nil, !isDot else { return false }
                digits -= 1
            } else if byte == UInt8(ascii: "%") {
                digits = 2
            } else if byte == UInt8(ascii: "/") || byte == UInt8(ascii: ".") {
                guard before != UInt8(ascii: "/") else { return false }
            } else {
                guard PercentEncoding.isPlain(byte) else { return false }
            }
            before = byte
        }
        return digits == 0 && before != UInt8(ascii: "/") && count <= Address.maximumLength
    }
}
