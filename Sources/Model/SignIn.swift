/// Credentials for a server or a proxy.
///
/// Printing a value reveals nothing of it.
public enum SignIn: Hashable, Sendable {
    /// A user and a password.
    case password(user: String, password: String)
    /// A bearer token.
    case token(String)

    /// Takes the credentials of an address.
    public init(_ credentials: Address.Credentials) {
        self = .password(user: credentials.user, password: credentials.password)
    }
}

extension Address.Credentials {
    /// Takes a user and a password. Returns nil for a token, which an address cannot contain.
    public init?(_ signIn: SignIn) {
        guard case .password(let user, let password) = signIn else { return nil }
        self.init(user: user, password: password)
    }
}

extension SignIn: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// A placeholder without secrets.
    public var description: String { "credentials" }

    /// A placeholder without secrets.
    public var debugDescription: String { description }

    /// An empty mirror, so that dumps contain no secrets.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// The place to store a password that the user entered.
public enum SignInKeeping: String, CaseIterable, Hashable, Sendable {
    /// In memory until the program ends.
    case session
    /// In a file that only the user can read.
    case file
    /// In the desktop's keyring.
    case keyring
}

/// The recipient of credentials. A server never receives those for a proxy, nor the reverse.
public enum SignInPlace: Hashable, Sendable {
    /// The servers of an origin.
    case origin(Origin)
    /// A proxy: its scheme, host and port.
    case proxy(String)
}

/// A question to the user for credentials.
///
/// The schemes and the realm come from the server. Sanitise them before they go to a screen.
public struct SignInQuestion: Hashable, Sendable {
    /// The origin of the request. For a proxy's question, the origin behind the proxy.
    public var origin: Origin
    /// The proxy that asks: its scheme, host and port; nil if the server asks.
    public var proxy: String?
    /// The accepted schemes in lower case: `basic`, `digest`, `bearer` and others.
    public var schemes: Set<String>
    /// The server's description of the protected area; may be empty.
    public var realm: String
    /// Whether credentials were sent and rejected.
    public var wasRefused: Bool
    /// Whether the question waits until the user opens the photo, because the gallery alone named this server.
    public var isDeferred = false
    /// The galleries that are blocked by the question.
    public var galleries: Set<GalleryID>

    /// Creates a question.
    public init(
        origin: Origin, proxy: String? = nil, schemes: Set<String>, realm: String = "", wasRefused: Bool = false,
        galleries: Set<GalleryID> = []
    ) {
        self.origin = origin
        self.proxy = proxy
        self.schemes = schemes
        self.realm = realm
        self.wasRefused = wasRefused
        self.galleries = galleries
    }

    /// Whether a proxy asks, not the server.
    public var isProxy: Bool { proxy != nil }

    /// The recipient of the answer.
    public var place: SignInPlace { proxy.map { .proxy($0) } ?? .origin(origin) }

    /// Whether the user can answer in any accepted scheme.
    public var canBeAnswered: Bool { wantsToken || !schemes.isDisjoint(with: Self.passwordSchemes) }

    /// Whether only a token is accepted. Proxies receive no tokens.
    public var wantsToken: Bool {
        !isProxy && schemes.contains("bearer") && schemes.isDisjoint(with: Self.passwordSchemes)
    }

    /// Whether others could read the answer on its way.
    ///
    /// Digest authentication does not send the password, and is preferred if the server offers it.
    public var isReadableOnTheWay: Bool {
        let isOpen = proxy.map { !$0.hasPrefix("https://") } ?? (origin.scheme == .http)
        return isOpen && !schemes.contains("digest")
    }

    private static let passwordSchemes: Set<String> = ["basic", "digest", "negotiate"]
}
