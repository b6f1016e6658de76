/// The order in which photos are listed.
public struct PhotoOrder: Hashable, Sendable {
    /// The sort key.
    public enum Criterion: String, Hashable, Sendable, CaseIterable {
        /// By modification date.
        case date
        /// By name, with numbers in it compared by value.
        case name
        /// By the size of the cached file. Photos that are not cached count as empty.
        case size
        /// By availability: photo, thumbnail only, neither, failed.
        case state
    }

    /// The sort key.
    public var criterion: Criterion
    /// Whether the smallest, earliest or alphabetically first is at the top.
    public var ascending: Bool

    /// Creates an order. By default the oldest photo comes first.
    public init(_ criterion: Criterion = .date, ascending: Bool = true) {
        self.criterion = criterion
        self.ascending = ascending
    }
}

/// The photos to list.
public struct PhotoFilter: Hashable, Sendable {
    /// The search text; empty for every photo.
    ///
    /// Each word must begin a word of the photo's name or metadata. `2006`, `2006-07` and `2006-07-30` also match
    /// dates.
    public var text: String

    /// Creates a filter. Without an argument it matches every photo.
    public init(_ text: String = "") {
        self.text = text
    }

    /// Matches every photo.
    public static let all = PhotoFilter()
}

/// The sections of a list in date order.
public enum SectionRule: String, Hashable, Sendable, CaseIterable {
    /// No sections.
    case none
    /// A section for each day, in the user's time zone.
    case day
    /// A section for each month.
    case month
    /// A section for each year.
    case year
}
