/// What is transferred, as far as it says how large it is likely to be and how it is to be treated.
public enum TransferKind: Int, Hashable, Sendable, CaseIterable {
    /// A gallery's list.
    case list
    /// A thumbnail. There are many, and each is soon over.
    case thumbnail
    /// A photo. One can fill a slow link for a minute.
    case photo

    /// What one weighs where none has been seen yet, in bytes.
    var usualSize: Double {
        switch self {
        case .list: 30e3
        case .thumbnail: 12e3
        case .photo: 400e3
        }
    }
}
