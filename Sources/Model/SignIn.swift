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
