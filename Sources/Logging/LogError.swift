/// What can be wrong with a log file.
public enum LogError: Error, Equatable, CustomStringConvertible {
    /// The file cannot be written; the system's reason.
    case cannotOpen(String, String)
    /// The file cannot be kept from others: how that is.
    case notPrivate(String, String)

    /// A sentence for the user.
    public var description: String {
        switch self {
        case .cannotOpen(let path, let reason): "The log file \(path) cannot be opened: \(reason)."
        case .notPrivate(let path, let reason):
            "The log file \(path) is not used, since others could read or change it: \(reason). Name another file."
        }
    }
}
