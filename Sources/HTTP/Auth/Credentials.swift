import Text

extension HTTPRequest {
    /// The credentials to send to the origin of a request's URL.
    public struct Credentials: Hashable, Sendable {
        enum Kind: Hashable, Sendable {
            case password(user: String, password: String)
            case bearer(String)
            case header(name: String, value: String)
            case signature(Signature)
        }

        let kind: Kind

        /// The key that signs requests; nil for other kinds of credentials.
        var signature: Signature? { if case .signature(let key) = kind { key } else { nil } }

        /// Creates credentials of a user and a password. They are for any authentication method that the server wants.
        public init(user: String, password: String) {
            kind = .password(user: user, password: password)
        }

        /// Creates credentials that consist of a bearer token.
        public init(bearer token: String) {
            kind = .bearer(token)
        }

        /// Creates credentials that consist of a header with a secret value.
        public init(header name: String, value: String) {
            kind = .header(name: name, value: value)
        }

        /// Creates an access key that signs requests (AWS Signature Version 4).
        ///
        /// Vitrine sends the signature to storage services, but never the secret.
        ///
        /// - Parameters:
        ///   - sessionToken: the token of a temporary key.
        ///   - region: the region of the bucket, which the signature contains.
        public init(accessKey id: String, secret: String, sessionToken: String?, region: String) {
            kind = .signature(Signature(id: id, secret: secret, sessionToken: sessionToken, region: region))
        }

        /// Whether the strings contain no control characters. Control characters could change the request.
        var isSound: Bool {
            let texts: [String] =
                switch kind {
                case .password(let user, let password): [user, password]
                case .bearer(let token): [token]
                case .header(let name, let value): [name, value]
                case .signature(let key): [key.id, key.secret, key.sessionToken ?? "", key.region]
                }
            // In curl's option, a colon in the region would begin the name of the service.
            if let signature, signature.region.contains(":") { return false }
            return texts.allSatisfy { $0.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F } }
        }
    }
}

extension HTTPRequest.Credentials: CustomStringConvertible, CustomReflectable {
    /// A fixed string, so that printing reveals no password.
    public var description: String { "credentials" }

    /// An empty mirror, so that reflection reveals no password.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// A client certificate for servers that require one.
public struct ClientCertificate: Hashable, Sendable {
    /// A PEM file with the certificate.
    public let file: String
    /// A PEM file with the certificate's private key.
    public let key: String
    /// The only host that may see the certificate; nil for every host that the user has named. Vitrine never sends the
    /// certificate after a redirect.
    public let host: String?

    /// Creates a certificate from two files.
    public init(file: String, key: String, host: String? = nil) {
        self.file = file
        self.key = key
        self.host = host
    }

    func isMeant(for plan: ExchangePlan) -> Bool {
        let url = plan.hop.url
        guard url.isSecure, plan.hop.isOwn else { return false }
        return host.map { Self.host($0, url.curl) == url.origin.host } ?? plan.request.isNamedByUser
    }

    /// Returns a typed host in the spelling of URLs. Returns nil if the text is no host.
    private static func host(_ text: String, _ curl: Curl) -> String? {
        guard let name = HostName.ascii(text) else { return nil }
        let isBareAddress = name.contains(":") && !name.hasPrefix("[")
        return (try? HTTPURL("https://\(isBareAddress ? "[\(name)]" : name)/", curl))?.origin.host
    }
}
