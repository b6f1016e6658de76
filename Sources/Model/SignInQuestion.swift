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
