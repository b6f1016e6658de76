import Cells

/// A way to show a cell's parts in two colours.
protocol TwoColourFitting {
    /// Shows the parts of the next cell.
    ///
    /// Cells come row by row, from the left.
    mutating func fit(_ parts: [PartColour], column: Int) -> TwoColours
    /// A row of cells is done.
    mutating func endRow()
}

/// Which parts of a cell have the text's colour, and what both colours are.
struct TwoColours: Hashable {
    /// A bit for each part.
    let pattern: Int
    let foreground: Colour
    let background: Colour
}
