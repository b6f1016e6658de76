import Cells

/// How pictures are drawn with characters.
public struct DrawingStyle: Hashable, Sendable {
    /// Which characters.
    public enum Symbols: String, Hashable, Sendable, CaseIterable {
        /// Letters and signs by what they look like from afar. For terminals that show nothing else.
        case ascii
        /// Half blocks: two pixels a cell, one above the other.
        case half

        /// Pixels of a picture that one cell shows.
        var pixelsPerCell: (columns: Int, rows: Int) {
            switch self {
            case .ascii: (2, 3)
            case .half: (1, 2)
            }
        }
    }

    /// Which characters.
    public var symbols: Symbols
    /// In how many colours.
    public var colours: ColourDepth
    /// The width of a cell divided by its height.
    public var cellAspect: Double

    /// A style.
    public init(symbols: Symbols, colours: ColourDepth, cellAspect: Double) {
        self.symbols = symbols
        self.colours = colours
        self.cellAspect = cellAspect
    }

    /// The best that a terminal can show.
    public init(_ capabilities: Capabilities) {
        // Half blocks show a picture by colours alone; with none they would show nothing.
        let hasBlocks = capabilities.unicode && capabilities.colours != .none
        self.init(
            symbols: hasBlocks ? .half : .ascii, colours: capabilities.colours, cellAspect: capabilities.cellAspect)
    }

    /// The width of one of the picture's pixels divided by its height, on the screen.
    var pixelAspect: Double {
        let pixels = symbols.pixelsPerCell
        return cellAspect * Double(pixels.rows) / Double(pixels.columns)
    }
}
