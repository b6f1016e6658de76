/// The order in which photos are listed.
public struct PhotoOrder: Hashable, Sendable {
    /// What they are ordered by.
    public enum Criterion: String, Hashable, Sendable, CaseIterable {
        /// When the photo was modified.
        case date
        /// The photo's name, numbers in it by their value.
        case name
        /// How many bytes the photo's file has; those that are not here count as empty.
        case size
        /// What is here: first photos, then thumbnails, then nothing, then what failed.
        case state
    }

    /// What they are ordered by.
    public var criterion: Criterion
    /// Smallest, earliest or first in the alphabet at the top.
    public var ascending: Bool

    /// An order; by default the oldest photo comes first.
    public init(_ criterion: Criterion = .date, ascending: Bool = true) {
        self.criterion = criterion
        self.ascending = ascending
    }
}
