/// Why a photo could not be written where the user wants it.
public enum ExportError: Error, Equatable, CustomStringConvertible {
    /// The folder, or a file in it, cannot be made or written; the system's reason.
    case file(path: String, reason: String)
    /// There is another file of that name already. It is the user's, and is left as it is.
    case exists(path: String)
    /// The gallery does not have the photo any more.
    case gone
    /// The photo cannot be had; why.
    case unavailable(String)

    /// A sentence for the user.
    public var description: String {
        switch self {
        case .file(let path, let reason): "\(path): \(reason)."
        case .exists(let path): "\(path) is there already, and is another file; it is left as it is."
        case .gone: "The gallery does not have it any more."
        case .unavailable(let reason): "It is not here: \(reason)."
        }
    }
}
