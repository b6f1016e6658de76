/// A colour of a cell.
public enum Colour: Hashable, Sendable {
    /// Whatever the terminal's user has chosen for text or background.
    case terminal
    /// A place in the terminal's palette: 0–15 as its user has set them, 16–255 the usual cube and greys.
    case palette(UInt8)
    /// Red, green and blue, for terminals that take them.
    case rgb(UInt8, UInt8, UInt8)
}
