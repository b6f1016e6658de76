import Text

/// One cell of a screen.
public struct Cell: Hashable, Sendable {
    /// The visible character of the cell, with its combining marks. Empty in the right half of a wide character.
    public let text: String
    /// The number of columns that the character covers: 1 or 2. The right half of a wide character has 0.
    public let width: UInt8
    /// The colours and attributes of the cell.
    public var style: Style

    init(text: String, width: UInt8, style: Style) {
        self.text = text
        self.width = width
        self.style = style
    }

    /// Creates a cell from a glyph, which is always safe to display.
    public init(_ glyph: Glyph, style: Style = .plain) {
        self.init(text: glyph.text, width: UInt8(glyph.width), style: style)
    }

    /// An empty cell on the terminal's own background.
    public static let blank = Cell(text: " ", width: 1, style: .plain)

    /// Returns a cell for the right half of a wide character.
    static func rightHalf(_ style: Style) -> Cell { Cell(text: "", width: 0, style: style) }

    /// Whether the cell has a 24-bit colour.
    public var isTrueColour: Bool {
        if case .rgb = style.foreground { return true }
        if case .rgb = style.background { return true }
        return false
    }
}

/// A rectangle of finished cells, such as a picture drawn with symbols.
public struct CellBlock: Hashable, Sendable {
    /// The size of the block in cells.
    public let size: Size
    /// The cells of the block, row by row from the upper left.
    public let cells: [Cell]

    /// Creates a block. The number of cells must match the size.
    public init(size: Size, cells: [Cell]) {
        precondition(cells.count == size.columns * size.rows)
        self.size = size
        self.cells = cells
    }

    /// The cell at a position in the block.
    public subscript(column: Int, row: Int) -> Cell { cells[row * size.columns + column] }

    /// The approximate memory use in bytes.
    public var byteCount: Int { cells.count * MemoryLayout<Cell>.stride }
}

/// The colours and attributes of a cell.
public struct Style: Hashable, Sendable {
    /// Text attributes of a cell. Terminals may ignore some of them.
    public struct Attributes: OptionSet, Hashable, Sendable {
        /// The bits of the attributes.
        public let rawValue: UInt8

        /// Creates attributes from raw bits.
        public init(rawValue: UInt8) { self.rawValue = rawValue }

        /// Bold or bright text.
        public static let bold = Attributes(rawValue: 1)
        /// Faint text.
        public static let dim = Attributes(rawValue: 2)
        /// Underlined text.
        public static let underline = Attributes(rawValue: 4)
        /// Exchanges the text and background colours.
        public static let reverse = Attributes(rawValue: 8)
    }

    /// The colour of the text.
    public var foreground: Colour
    /// The background colour.
    public var background: Colour
    /// The text attributes.
    public var attributes: Attributes

    /// Creates a style. The defaults are the terminal's own colours.
    public init(
        foreground: Colour = .terminal, background: Colour = .terminal, attributes: Attributes = []
    ) {
        self.foreground = foreground
        self.background = background
        self.attributes = attributes
    }

    /// The terminal's default style.
    public static let plain = Style()
}

/// The colour of a cell's text or background.
public enum Colour: Hashable, Sendable {
    /// The terminal's default colour for text or background.
    case terminal
    /// A colour of the terminal's palette. The user sets 0–15; 16–255 are the usual cube and greys.
    case palette(UInt8)
    /// A 24-bit colour: red, green and blue.
    case rgb(UInt8, UInt8, UInt8)
}
