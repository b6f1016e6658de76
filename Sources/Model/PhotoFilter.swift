/// Which photos are listed.
public struct PhotoFilter: Hashable, Sendable {
    /// Part of the name, in any case of letters; empty for every photo.
    public var name: String

    /// A filter; without an argument, one that lets everything through.
    public init(name: String = "") {
        self.name = name
    }

    /// Lets everything through.
    public static let all = PhotoFilter()
}
