import Text

/// One place of a screen.
public struct Cell: Hashable, Sendable {
    /// What stands there: one visible character with the marks on it. Empty in the right half of a wide one.
    public let text: String
    /// The columns that it takes: 1 or 2; 0 for the right half of a wide one.
    public let width: UInt8
    /// How it looks.
    public var style: Style

    init(text: String, width: UInt8, style: Style) {
        self.text = text
        self.width = width
        self.style = style
    }

    /// A cell for a glyph, which is harmless by being one.
    public init(_ glyph: Glyph, style: Style = .plain) {
        self.init(text: glyph.text, width: UInt8(glyph.width), style: style)
    }

    /// Nothing, on the terminal's own background.
    public static let blank = Cell(text: " ", width: 1, style: .plain)

    /// The right half of a wide character.
    static func rightHalf(_ style: Style) -> Cell { Cell(text: "", width: 0, style: style) }

    /// Whether the cell has a colour that only terminals with all colours can show.
    public var isTrueColour: Bool {
        if case .rgb = style.foreground { return true }
        if case .rgb = style.background { return true }
        return false
    }
}

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

/// How a cell looks, apart from what stands in it.
public struct Style: Hashable, Sendable {
    /// Ways to set text off, as far as the terminal has them.
    public struct Attributes: OptionSet, Hashable, Sendable {
        /// The bits.
        public let rawValue: UInt8

        /// Takes the bits.
        public init(rawValue: UInt8) { self.rawValue = rawValue }

        /// Heavier, or brighter.
        public static let bold = Attributes(rawValue: 1)
        /// Fainter.
        public static let dim = Attributes(rawValue: 2)
        /// With a line below.
        public static let underline = Attributes(rawValue: 4)
        /// Text and background exchanged.
        public static let reverse = Attributes(rawValue: 8)
    }

    /// The text's colour.
    public var foreground: Colour
    /// The colour behind it.
    public var background: Colour
    /// What sets it off.
    public var attributes: Attributes

    /// A style; by default that of the terminal's own text.
    public init(
        foreground: Colour = .terminal, background: Colour = .terminal, attributes: Attributes = []
    ) {
        self.foreground = foreground
        self.background = background
        self.attributes = attributes
    }

    /// The terminal's own text.
    public static let plain = Style()
}

/// A colour of a cell.
public enum Colour: Hashable, Sendable {
    /// Whatever the terminal's user has chosen for text or background.
    case terminal
    /// A place in the terminal's palette: 0–15 as its user has set them, 16–255 the usual cube and greys.
    case palette(UInt8)
    /// Red, green and blue, for terminals that take them.
    case rgb(UInt8, UInt8, UInt8)
}
