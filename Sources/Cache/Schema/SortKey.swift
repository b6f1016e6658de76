import Model

/// What a photo is sorted by.
enum SortKey: Equatable {
    /// A date, in milliseconds.
    case number(Int64)
    /// A ``NaturalKey``.
    case text([UInt8])
}
