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

/// How a list that is ordered by date is divided.
public enum SectionRule: String, Hashable, Sendable, CaseIterable {
    /// Not at all.
    case none
    /// A section for each day, in the user's time zone.
    case day
    /// A section for each month.
    case month
    /// A section for each year.
    case year
}
