/// Which photos are listed.
public struct PhotoFilter: Hashable, Sendable {
    /// Words that a photo has to have, each at least the beginning of one of its own: in its name, or in what it says of
    /// itself. `2006`, `2006-07` and `2006-07-30` stand for the time, too. Empty for every photo.
    public var text: String

    /// A filter; without an argument, one that lets everything through.
    public init(_ text: String = "") {
        self.text = text
    }

    /// Lets everything through.
    public static let all = PhotoFilter()
}
