/// Why the cache cannot keep what comes: a matter of the disk, and of nothing that was to be stored.
///
/// Everything suffers from it alike, so it is a thing of its own: told once, and not once a picture.
public enum StorageTrouble: Hashable, Sendable {
    /// There is no room.
    case full
    /// Nothing may be written.
    case readOnly
    /// Writing fails.
    case failing

    /// What the user is told.
    public var notice: String {
        switch self {
        case .full: "The disk is full: nothing new can be kept."
        case .readOnly: "The cache is read-only: nothing new can be kept."
        case .failing: "The disk reports errors: nothing new can be kept. The log says more."
        }
    }
}
