/// Who asks, as a server or a proxy wants to be told.
///
/// Whoever prints one prints nothing of it.
public enum SignIn: Hashable, Sendable {
    /// A user and a password.
    case password(user: String, password: String)
    /// A token that says it all.
    case token(String)

    /// What stood in an address.
    public init(_ credentials: Address.Credentials) {
        self = .password(user: credentials.user, password: credentials.password)
    }
}

extension Address.Credentials {
    /// A user and a password; nil for a token, which no address can hold.
    public init?(_ signIn: SignIn) {
        guard case .password(let user, let password) = signIn else { return nil }
        self.init(user: user, password: password)
    }
}

extension SignIn: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Nothing of it.
    public var description: String { "credentials" }

    /// Nothing of it either.
    public var debugDescription: String { description }

    /// And nothing.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// Where a password is kept that the user was asked for.
public enum SignInKeeping: String, CaseIterable, Hashable, Sendable {
    /// In memory, until the program ends.
    case session
    /// In a file of the user's alone.
    case file
    /// In the keyring of the user's desktop.
    case keyring
}

/// Who is told who asks. Proxies are apart from servers: what one hears is no business of the other's.
public enum SignInPlace: Hashable, Sendable {
    /// The servers of an origin.
    case origin(Origin)
    /// A proxy on the way: its scheme, host and port.
    case proxy(String)
}

/// What the user is asked where a server, or a proxy, wants to know who asks.
///
/// Schemes and realm are a stranger's words: they are to be made visible before they are shown.
public struct SignInQuestion: Hashable, Sendable {
    /// The origin that was asked for something. Where a proxy wants to know, it is the way there that is meant.
    public var origin: Origin
    /// The proxy that wants to know, by its scheme, host and port; nil where it is the server.
    public var proxy: String?
    /// In what ways it wants to be told, in lower case: `basic`, `digest`, `bearer` and others.
    public var schemes: Set<String>
    /// What it says that the password is for; empty where it says nothing.
    public var realm: String
    /// Whether something was said, and refused.
    public var wasRefused: Bool
    /// Whether it waits until the user opens the photo: it is another server than the gallery's that wants to know, on the word
    /// of the gallery alone.
    public var isDeferred = false
    /// The galleries that cannot go on without an answer.
    public var galleries: Set<GalleryID>

    /// States a question.
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

    /// Whether a proxy wants to know, and not the server.
    public var isProxy: Bool { proxy != nil }

    /// Who is told the answer.
    public var place: SignInPlace { proxy.map { .proxy($0) } ?? .origin(origin) }

    /// Whether there is an answer that a user could give.
    public var canBeAnswered: Bool { wantsToken || !schemes.isDisjoint(with: Self.passwordSchemes) }

    /// Whether a token is wanted, and no password would do. Proxies are told no tokens.
    public var wantsToken: Bool {
        !isProxy && schemes.contains("bearer") && schemes.isDisjoint(with: Self.passwordSchemes)
    }

    /// Whether the answer could be read by others on its way.
    ///
    /// A digest does not hold the password, and is the way that is chosen where there is a choice.
    public var isReadableOnTheWay: Bool {
        let isOpen = proxy.map { !$0.hasPrefix("https://") } ?? (origin.scheme == .http)
        return isOpen && !schemes.contains("digest")
    }

    private static let passwordSchemes: Set<String> = ["basic", "digest", "negotiate"]
}
