/// Where a password is kept that the user was asked for.
public enum SignInKeeping: String, CaseIterable, Hashable, Sendable {
    /// In memory, until the program ends.
    case session
    /// In a file of the user's alone.
    case file
    /// In the keyring of the user's desktop.
    case keyring
}
