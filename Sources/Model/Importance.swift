/// How soon something is wanted. Work is done in this order, across galleries and kinds of work.
public enum Importance: Int, Comparable, Hashable, Sendable, CaseIterable {
    /// Everything else that a setting asks for.
    case rest
    /// Thumbnails close to what is on the screen.
    case near
    /// Thumbnails on the screen.
    case visible
    /// The list of photos itself.
    case list
    /// The photo that is being looked at.
    case lookedAt

    /// Less important first.
    public static func < (left: Importance, right: Importance) -> Bool {
        left.rawValue < right.rawValue
    }
}
