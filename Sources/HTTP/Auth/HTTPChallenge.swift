/// What a server or a proxy wants to know before it answers.
///
/// Scheme and realm are a stranger's words: they are to be made visible before they are shown.
public struct HTTPChallenge: Hashable, Sendable {
    /// Whether a proxy asks, and not the server.
    public let isProxy: Bool
    /// The way in which it wants to be told, in lower case: `basic`, `digest`, `negotiate`, `bearer`, or any other.
    public let scheme: String
    /// What it says that the password is for; empty where it says nothing.
    public let realm: String

    /// States a challenge.
    public init(isProxy: Bool, scheme: String, realm: String = "") {
        self.isProxy = isProxy
        self.scheme = scheme
        self.realm = realm
    }
}

extension HTTPChallenge {
    private static let maximumCount = 16
    private static let maximumRealm = 256

    /// Reads lines of `WWW-Authenticate` or `Proxy-Authenticate`. What cannot be read is passed over.
    static func all(in lines: [String], isProxy: Bool) -> [HTTPChallenge] {
        var all: [HTTPChallenge] = []
        for line in lines {
            var scanner = ChallengeScanner(line)
            while all.count < maximumCount, let next = scanner.next() {
                let realm = String(next.realm.prefix(maximumRealm))
                all.append(HTTPChallenge(isProxy: isProxy, scheme: next.scheme.lowercased(), realm: realm))
            }
        }
        return all
    }
}

/// Takes challenges out of one header line (RFC 9110, section 11.6.1), which holds a list of them, each of which holds a
/// list too, with the same comma between the items of both: a word with `=` behind it belongs to the challenge before, and
/// one without begins the next.
struct ChallengeScanner {
    private var rest: Substring.UTF8View

    init(_ line: String) {
        rest = line[...].utf8
    }

    /// The next challenge; nil after the last.
    mutating func next() -> (scheme: String, realm: String)? {
        skip { $0 == UInt8(ascii: ",") || Self.isSpace($0) }
        var scheme = takeWord()
        // What can begin no challenge is passed over.
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

    /// The next parameter of the challenge; nil, having taken nothing, if the next challenge begins there.
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
        // A token that is no pair, as Negotiate has, follows its scheme without a comma.
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

    /// What a token is made of, and the further ones of a token68 but for its `=`.
    private static func isWordCharacter(_ byte: UInt8) -> Bool {
        byte > 0x20 && byte != 0x7F && !"\",;=()<>@[]{}\\".utf8.contains(byte)
    }
}
