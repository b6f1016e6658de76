/// How many colours a terminal has.
public enum ColourDepth: Int, Comparable, Hashable, Sendable, CaseIterable {
    /// None: text and background.
    case none
    /// Eight: the consoles of old, and Linux's.
    case eight
    /// The sixteen that the user has chosen.
    case sixteen
    /// Those, a cube of 216 and 24 greys.
    case palette
    /// All.
    case full

    /// Fewer first.
    public static func < (left: ColourDepth, right: ColourDepth) -> Bool {
        left.rawValue < right.rawValue
    }
}
