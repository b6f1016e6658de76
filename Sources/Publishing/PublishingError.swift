/// Why a folder could not be made a gallery.
public enum PublishingError: Error, Equatable, CustomStringConvertible {
    /// The folder, or a file in it, cannot be read or written; the system's reason.
    case file(path: String, reason: String)
    /// There is a list of another making. It is the user's, and is left as it is.
    case notOurs(path: String)
    /// Somebody else is at work on the folder.
    case locked(path: String)
    /// No picture can be decoded; why.
    case decoder(reason: String)
    /// There is no picture in the folder, and never was one.
    case noPhotos(path: String)

    /// A sentence for the user.
    public var description: String {
        switch self {
        case .file(let path, let reason): "\(path): \(reason)."
        case .notOurs(let path):
            "\(path) is there already and was not made by “vitrine publish”; it is left as it is. "
                + "Move it away, and publish again."
        case .locked(let path): "\(path) is just being published by another Vitrine."
        case .decoder(let reason): reason
        case .noPhotos(let path): "\(path) holds no photos; no gallery is made."
        }
    }
}
