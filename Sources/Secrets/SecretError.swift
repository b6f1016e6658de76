/// Why a password cannot be kept, or looked for.
public enum SecretError: Error, Equatable, CustomStringConvertible {
    /// The library that speaks with keyrings is not there.
    case noKeyring
    /// The keyring has refused; its own words.
    case refused(String)
    /// The keyring has not answered in time.
    case silent
    /// The file is a link, somebody else's, or open to others.
    case notPrivate(path: String)
    /// The file cannot be read or written; the system's reason.
    case file(path: String, reason: String)

    /// A sentence for the user.
    public var description: String {
        switch self {
        case .noKeyring: "There is no keyring: libsecret is not installed."
        case .refused(let reason): "The keyring refuses: \(reason.hasSuffix(".") ? reason : reason + ".")"
        case .silent: "The keyring does not answer."
        case .notPrivate(let path):
            "\(path) is not yours alone: it must be a file that you own and nobody else can read."
        case .file(let path, let reason): "\(path): \(reason)."
        }
    }
}
