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
