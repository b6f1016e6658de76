/// A server's or proxy's request for credentials.
///
/// The scheme and realm are untrusted text: escape them before showing them.
public struct HTTPChallenge: Hashable, Sendable {
    /// Whether a proxy requests the credentials.
    public let isProxy: Bool
    /// The authentication scheme in lower case: `basic`, `digest`, `negotiate`, `bearer`, or another.
    public let scheme: String
    /// The server's name for the protected area, which may be empty.
    public let realm: String
    /// Whether the server gave Basic another name, which curl does not know.
    fileprivate(set) var isDisguised = false

    /// Creates a challenge.
    public init(isProxy: Bool, scheme: String, realm: String = "") {
        self.isProxy = isProxy
        self.scheme = scheme
        self.realm = realm
    }
}

extension HTTPChallenge {
    private static let maximumCount = 16
    private static let maximumRealm = 256
    /// Nextcloud's name for Basic in answers to requests with `X-Requested-With`. Because of this name, browsers do not
    /// ask the user for a password.
    private static let disguisedBasic = "dummybasic"

    /// Parses `WWW-Authenticate` or `Proxy-Authenticate` lines. Skips invalid parts.
    static func all(in lines: [String], isProxy: Bool) -> [HTTPChallenge] {
        var all: [HTTPChallenge] = []
        for line in lines {
            var scanner = ChallengeScanner(line)
            while all.count < maximumCount, let next = scanner.next() {
                let realm = String(next.realm.prefix(maximumRealm))
                let scheme = next.scheme.lowercased()
                let isDisguised = scheme == disguisedBasic
                var challenge = HTTPChallenge(isProxy: isProxy, scheme: isDisguised ? "basic" : scheme, realm: realm)
                challenge.isDisguised = isDisguised
                all.append(challenge)
            }
        }
        return all
    }
}

/// Parses the challenges of one header line (RFC 9110, section 11.6.1).
///
/// The line is a list of challenges with lists of parameters, and both lists use commas. A word before `=` belongs to
/// the current challenge; a word without `=` starts the next challenge.
struct ChallengeScanner {
    private var rest: Substring.UTF8View

    init(_ line: String) {
        rest = line[...].utf8
    }

    /// Returns the next challenge. Returns nil after the last challenge.
    mutating func next() -> (scheme: String, realm: String)? {
        skip { $0 == UInt8(ascii: ",") || Self.isSpace($0) }
        var scheme = takeWord()
        // Skips characters that cannot begin a challenge.
        while scheme.isEmpty, rest.popFirst() != nil {
            skip { !Self.isWordCharacter($0) }
            scheme = takeWord()
        }
        guard !scheme.isEmpty else { return nil }
        var realm: String?
        while let item = takeParameter() {
            if item.name.lowercased() == "realm", realm == nil { realm = item.value }
        }
        return (scheme, realm ?? "")
    }

    /// Returns the next parameter. Returns nil, without advancing, if the next challenge begins.
    private mutating func takeParameter() -> (name: String, value: String)? {
        let before = rest
        skip { $0 == UInt8(ascii: ",") || Self.isSpace($0) }
        let hasComma = before.prefix(before.count - rest.count).contains(UInt8(ascii: ","))
        let name = takeWord()
        skip(Self.isSpace)
        if rest.first == UInt8(ascii: "="), !name.isEmpty {
            skip { $0 == UInt8(ascii: "=") }
            skip(Self.isSpace)
            return (name, rest.first == UInt8(ascii: "\"") ? takeQuoted() : takeWord())
        }
        // A token68, as Negotiate uses, follows its scheme without a comma.
        if !hasComma, !name.isEmpty { return (name, "") }
        rest = before
        return nil
    }

    private mutating func takeWord() -> String {
        let word = rest.prefix(while: Self.isWordCharacter)
        rest = rest.dropFirst(word.count)
        return String(decoding: word, as: UTF8.self)
    }

    private mutating func takeQuoted() -> String {
        rest = rest.dropFirst()
        var bytes: [UInt8] = []
        while let byte = rest.popFirst(), byte != UInt8(ascii: "\"") {
            if byte == UInt8(ascii: "\\"), let escaped = rest.popFirst() {
                bytes.append(escaped)
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private mutating func skip(_ isPassed: (UInt8) -> Bool) {
        rest = rest.drop(while: isPassed)
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

    /// Returns whether a byte may be part of a token. The `=` of a token68 is excluded.
    private static func isWordCharacter(_ byte: UInt8) -> Bool {
        byte > 0x20 && byte != 0x7F && !"\",;=()<>@[]{}\\".utf8.contains(byte)
    }
}
