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
