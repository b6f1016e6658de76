extension HTTPRequest {
    /// Who asks, for the origin of the request's URL.
    public struct Credentials: Hashable, Sendable {
        enum Kind: Hashable, Sendable {
            case password(user: String, password: String)
            case bearer(String)
        }

        let kind: Kind

        /// A user and a password: told in the way that the server wants, the plain one included.
        public init(user: String, password: String) {
            kind = .password(user: user, password: password)
        }

        /// A token that says it all.
        public init(bearer token: String) {
            kind = .bearer(token)
        }

        /// Whether they can be sent without becoming something else on the way.
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
    /// Nothing of them, wherever somebody prints them.
    public var description: String { "credentials" }

    /// Nothing of them either.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// A certificate that says who asks, for servers that want one.
public struct ClientCertificate: Hashable, Sendable {
    /// A PEM file with the certificate.
    public let file: String
    /// A PEM file with its key.
    public let key: String
    /// The one host that is shown it; nil for each that the user has named. Where a redirect leads, nobody is.
    public let host: String?

    /// Names the files.
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
