import Model

/// What can be done to remember who asks beyond this run of the program. Both may take their time; neither is done on the
/// main actor.
public struct CredentialKeeping: Sendable {
    /// Looks for what was kept; nil if there is nothing.
    let lookUp: @Sendable (SignInPlace) async -> SignIn?
    /// Keeps something. Returns why it cannot, a sentence.
    let keep: @Sendable (SignIn, SignInPlace, SignInKeeping) async -> String?

    /// States how it is done.
    public init(
        lookUp: @escaping @Sendable (SignInPlace) async -> SignIn?,
        keep: @escaping @Sendable (SignIn, SignInPlace, SignInKeeping) async -> String?
    ) {
        self.lookUp = lookUp
        self.keep = keep
    }
}
