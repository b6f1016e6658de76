import Cells

/// A picture as cells, ready to be put on a surface.
public struct DrawnPicture: Hashable, Sendable {
    /// The cells.
    public let cells: CellBlock
    /// The whole picture's width, in its own pixels.
    public let width: Int
    /// The whole picture's height, in its own pixels.
    public let height: Int
    /// False if the picture's bytes break off, and the rest is blank.
    public let isComplete: Bool
}
