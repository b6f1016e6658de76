/// A stretch of a list of photos that were taken in the same day, month or year.
public struct PhotoSection: Hashable, Sendable {
    /// The first day of the period.
    public let start: LocalDay
    /// The places of its photos in the list.
    public let range: Range<Int>
}
