/// A rectangle of finished cells: a picture as symbols show it.
public struct CellBlock: Hashable, Sendable {
    /// How wide and high it is.
    public let size: Size
    /// Row by row from the upper left.
    public let cells: [Cell]

    /// A block of that many cells.
    public init(size: Size, cells: [Cell]) {
        precondition(cells.count == size.columns * size.rows)
        self.size = size
        self.cells = cells
    }

    /// The cell at a place inside of it.
    public subscript(column: Int, row: Int) -> Cell { cells[row * size.columns + column] }

    /// About how much memory it takes.
    public var byteCount: Int { cells.count * MemoryLayout<Cell>.stride }
}
