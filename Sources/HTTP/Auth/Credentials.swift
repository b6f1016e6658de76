extension HTTPRequest {
    /// Credentials for the origin of a request's URL.
    public struct Credentials: Hashable, Sendable {
        enum Kind: Hashable, Sendable {
            case password(user: String, password: String)
            case bearer(String)
        }

        let kind: Kind

        /// A user and a password, sent by any method that the server wants.
        public init(user: String, password: String) {
            kind = .password(user: user, password: password)
        }

        /// A bearer token.
        public init(bearer token: String) {
            kind = .bearer(token)
        }

        /// Whether they hold no control characters, which could change the request.
        var isSound: Bool {
            let texts: [String] =
                switch kind {
                case .password(let user, let password): [user, password]
                case .bearer(let token): [token]
                }
            return texts.allSatisfy { $0.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F } }
        }
    }
}

extension HTTPRequest.Credentials: CustomStringConvertible, CustomReflectable {
    /// A fixed text, so that printing reveals nothing.
    public var description: String { "credentials" }

    /// An empty mirror, for the same reason.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// A client certificate for servers that require one.
public struct ClientCertificate: Hashable, Sendable {
    /// A PEM file with the certificate.
    public let file: String
    /// A PEM file with its key.
    public let key: String
    /// The host that may see it; nil for every host that the user has named. It is never sent after a redirect.
    public let host: String?

    /// Makes a certificate from two files.
    public init(file: String, key: String, host: String? = nil) {
        self.file = file
        self.key = key
        self.host = host
    }

    func isMeant(for plan: ExchangePlan) -> Bool {
        guard plan.hop.url.isSecure, plan.hop.isOwn else { return false }
        return host.map { $0.lowercased() == plan.hop.url.origin.host } ?? plan.request.isNamedByUser
    }
}
