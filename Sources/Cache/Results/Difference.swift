/// How a list of photos became another.
public enum Difference: Equatable, Sendable {
    /// In no way that is worth telling apart: look at all of it again.
    case reset
    /// Row by row.
    case rows(RowDifference)
}
