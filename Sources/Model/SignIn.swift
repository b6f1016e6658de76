import Glibc

/// Credentials for a server or a proxy.
///
/// Printing a value reveals no part of the credentials.
public enum SignIn: Hashable, Sendable {
    /// A user name and a password.
    case password(user: String, password: String)
    /// A bearer token.
    case token(String)
    /// A header with a secret value, such as an API key.
    case header(name: String, value: String)
    /// A key that signs requests to a storage service.
    case accessKey(AccessKey)

    /// Creates a sign-in from the credentials in an address.
    public init(_ credentials: Address.Credentials) {
        self = .password(user: credentials.user, password: credentials.password)
    }
}

extension Address.Credentials {
    /// Creates credentials for an address from a user and password. Returns nil for a token or key, which an address
    /// cannot contain.
    public init?(_ signIn: SignIn) {
        guard case .password(let user, let password) = signIn else { return nil }
        self.init(user: user, password: password)
    }
}

extension SignIn: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// A fixed text without secrets.
    public var description: String { "credentials" }

    /// A fixed text without secrets.
    public var debugDescription: String { description }

    /// An empty mirror, so that dumps contain no secrets.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// The place where Vitrine keeps a password that the user entered.
public enum SignInKeeping: String, CaseIterable, Hashable, Sendable {
    /// Vitrine keeps the password in memory until the program ends.
    case session
    /// Vitrine stores the password in a file that only the user can read.
    case file
    /// Vitrine stores the password in the desktop's keyring.
    case keyring
}

/// The recipient of credentials. Vitrine never sends a proxy's credentials to a server, or a server's credentials to a
/// proxy.
public enum SignInPlace: Hashable, Sendable {
    /// The servers of an origin.
    case origin(Origin)
    /// The proxy with this scheme, host and port.
    case proxy(String)
}

/// The proxies that the user has configured, identified by scheme, host and port.
///
///     ConfiguredProxies(["me:s3cret@proxy.example:3128"]).contains("http://proxy.example:3128")      // true
public struct ConfiguredProxies: Hashable, Sendable {
    /// The environment variables that configure proxies.
    public static let variables = ["http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"]

    private let names: Set<String>

    /// Reads the values of environment variables. A value without a scheme names an HTTP proxy.
    public init(_ values: [String]) {
        names = Set(values.map(Self.name))
    }

    /// Whether the user has configured the proxy with this scheme, host and port.
    public func contains(_ proxy: String) -> Bool { names.contains(Self.name(proxy)) }

    /// Whether the name of a proxy ends in `.local`.
    public var haveLocalName: Bool {
        names.contains { $0.split(separator: " ").dropFirst().first?.hasSuffix(".local") ?? false }
    }

    /// Returns a proxy's scheme, host and port in a uniform spelling. When a proxy asks for credentials, curl states
    /// its name, perhaps in another spelling than the user's.
    private static func name(_ value: String) -> String {
        let mark = value.firstRange(of: "://")
        let stated = mark.map { value[..<$0.lowerBound].lowercased() } ?? "http"
        // GNOME writes `socks`, which Vitrine takes for SOCKS 5.
        let scheme = stated == "socks" ? "socks5" : stated
        let authority = (mark.map { value[$0.upperBound...] } ?? value[...]).prefix { !"/?#".contains($0) }
        let place = authority.lastIndex(of: "@").map { authority[authority.index(after: $0)...] } ?? authority
        let colon = place.lastIndex(of: ":").flatMap { place[$0...].contains("]") ? nil : $0 }
        let host = colon.map { place[..<$0] } ?? place
        let port = colon.map { place[place.index(after: $0)...] } ?? ""
        return "\(scheme) \(Self.host(String(host))) \(Int(port).map(String.init) ?? String(port))"
    }

    /// Returns a host name in lower case, or the value of an IP address.
    private static func host(_ text: String) -> String {
        var (old, new) = (in_addr(), in6_addr())
        if inet_pton(AF_INET6, text.filter { !"[]".contains($0) }, &new) == 1 {
            return withUnsafeBytes(of: new) { "\(Array($0))" }
        }
        // inet_aton ignores all text after a space, so it must not parse a text with spaces.
        if !text.contains(where: \.isWhitespace), inet_aton(text, &old) != 0 { return "\(old.s_addr)" }
        return text.lowercased()
    }
}

/// A question that asks the user for credentials.
///
/// The schemes and the realm come from the server. They may contain control characters, so make them harmless before a
/// screen shows them.
public struct SignInQuestion: Hashable, Sendable {
    /// The origin of the request. For a proxy's question, this is the origin behind the proxy.
    public var origin: Origin
    /// The scheme, host and port of the proxy that requests credentials, if a proxy does.
    public var proxy: String?
    /// The header in which the server accepts an API key; nil if the server wants a password or token. If ``schemes``
    /// contains a scheme for passwords, the server accepts a password as well as a key.
    public var keyHeader: String?
    /// The server's own name for its tokens; nil for the usual name.
    public var tokenName: String?
    /// The accepted authentication schemes in lower case, such as `basic`, `digest` or `bearer`.
    public var schemes: Set<String>
    /// The server's name for the protected area, which may be empty.
    public var realm: String
    /// Whether Vitrine sent credentials and they were rejected.
    public var wasRefused: Bool
    /// The region that an access key needs; nil if unknown.
    public var region: String?
    /// Whether the gallery is a bucket. Only then may the user and the password in an address serve as an access key.
    public var isOfBucket = false
    /// Whether Vitrine asks only when the user opens the photo. That is so if only the gallery refers to this server,
    /// and the user never entered the server's address.
    public var isDeferred = false
    /// The address below which the server has sign-in pages for browsers. Nil if users cannot sign in with the browser.
    public var browserServer: Address?
    /// The galleries whose requests need the answer.
    public var galleries: Set<GalleryID>

    /// Creates a question.
    public init(
        origin: Origin, proxy: String? = nil, keyHeader: String? = nil, schemes: Set<String>, realm: String = "",
        wasRefused: Bool = false, browserServer: Address? = nil, galleries: Set<GalleryID> = []
    ) {
        self.origin = origin
        self.proxy = proxy
        self.keyHeader = keyHeader
        self.schemes = schemes
        self.realm = realm
        self.wasRefused = wasRefused
        self.browserServer = browserServer
        self.galleries = galleries
    }

    /// Whether a proxy requests the credentials, not the server.
    public var isProxy: Bool { proxy != nil }

    /// The recipient of the credentials that the user enters.
    public var place: SignInPlace { proxy.map { .proxy($0) } ?? .origin(origin) }

    /// Whether the user can enter credentials for at least one accepted scheme.
    public var canBeAnswered: Bool { wantsToken || wantsAccessKey || !schemes.isDisjoint(with: Self.passwordSchemes) }

    /// Whether a storage service requests an access key. The user enters the key's id and the key's secret.
    public var wantsAccessKey: Bool { !isProxy && schemes.contains(Self.signatureScheme) }

    /// The scheme of signed requests to a storage service.
    public static let signatureScheme = "aws4-hmac-sha256"

    /// Returns the sign-in for the user's name and secret.
    public func signIn(name: String, secret: String) -> SignIn {
        wantsAccessKey
            ? .accessKey(AccessKey(id: name, secret: secret, region: region)) : .password(user: name, password: secret)
    }

    /// Whether only a token or an API key is accepted. In that case the user enters no name. False for a proxy, which
    /// receives neither a token nor an API key.
    public var wantsToken: Bool {
        guard !isProxy else { return false }
        return (keyHeader != nil || schemes.contains("bearer")) && schemes.isDisjoint(with: Self.passwordSchemes)
    }

    /// Whether a password and an API key are accepted. For an API key, the user enters the key's id as the name and the
    /// key's secret as the password.
    public var wantsPasswordOrKey: Bool { !isProxy && keyHeader != nil && !wantsToken }

    /// The name of the secret that the user enters.
    public var secretName: String {
        if wantsAccessKey { return "access key" }
        if wantsPasswordOrKey { return "password or API key" }
        return !wantsToken ? "password" : tokenName ?? (keyHeader == nil ? "token" : "API key")
    }

    /// Returns the credentials that consist of a token or an API key.
    public func signIn(token: String) -> SignIn {
        keyHeader.map { .header(name: $0, value: token) } ?? .token(token)
    }

    /// Whether others on the network could read the credentials.
    ///
    /// Digest authentication does not send the password, so Vitrine prefers this scheme if the server offers it.
    public var isReadableOnTheWay: Bool {
        let isOpen = proxy.map { !$0.hasPrefix("https://") } ?? (origin.scheme == .http)
        // A signature does not reveal the secret.
        return isOpen && !schemes.contains("digest") && !wantsAccessKey
    }

    private static let passwordSchemes: Set<String> = ["basic", "digest"]
}
