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
