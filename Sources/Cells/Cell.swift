import Text

/// One cell of a screen.
public struct Cell: Hashable, Sendable {
    /// One visible character with its marks. Empty in the right half of a wide character.
    public let text: String
    /// The number of columns: 1 or 2; 0 for the right half of a wide character.
    public let width: UInt8
    /// The style of the text.
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

    /// A blank on the terminal's own background.
    public static let blank = Cell(text: " ", width: 1, style: .plain)

    /// Returns the right half of a wide character.
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
    /// The size in cells.
    public let size: Size
    /// The cells, row by row from the upper left.
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
    /// Text attributes. Terminals may ignore some of them.
    public struct Attributes: OptionSet, Hashable, Sendable {
        /// The raw bits.
        public let rawValue: UInt8

        /// Creates attributes from raw bits.
        public init(rawValue: UInt8) { self.rawValue = rawValue }

        /// Bold or bright text.
        public static let bold = Attributes(rawValue: 1)
        /// Faint text.
        public static let dim = Attributes(rawValue: 2)
        /// Underlined text.
        public static let underline = Attributes(rawValue: 4)
        /// Text and background colours exchanged.
        public static let reverse = Attributes(rawValue: 8)
    }

    /// The text colour.
    public var foreground: Colour
    /// The background colour.
    public var background: Colour
    /// The text attributes.
    public var attributes: Attributes

    /// Creates a style; the defaults are the terminal's own colours.
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

/// A colour of a cell.
public enum Colour: Hashable, Sendable {
    /// The user's default colour for text or background.
    case terminal
    /// A palette colour: 0–15 are set by the user, 16–255 are the usual cube and greys.
    case palette(UInt8)
    /// Red, green and blue.
    case rgb(UInt8, UInt8, UInt8)
}
