import Text

/// One cell of a screen.
///
/// For each update of the screen, Vitrine copies and compares thousands of cells. So a cell contains only numbers and
/// no references.
public struct Cell: Hashable, Sendable {
    private let scalars: CellScalars
    private var appearance: CellAppearance

    /// The visible character of the cell, with its combining marks. Empty in the right half of a wide character.
    public var text: String {
        var text = String.UnicodeScalarView()
        forEachScalar { text.append($0) }
        return String(text)
    }

    /// Calls `body` for each scalar of the text. This is faster than ``text``.
    public func forEachScalar(_ body: (Unicode.Scalar) -> Void) { scalars.forEach(body) }

    /// The number of columns that the character covers: 1 or 2. The right half of a wide character has 0.
    public var width: Int { appearance.width }

    /// The colours and attributes of the cell.
    public var style: Style {
        get { appearance.style }
        set { appearance = CellAppearance(width: width, newValue) }
    }

    private init(_ scalars: CellScalars, width: Int, style: Style) {
        self.scalars = scalars
        appearance = CellAppearance(width: width, style)
    }

    /// Creates a cell from a glyph, which is always safe to display.
    public init(_ glyph: Glyph, style: Style = .plain) {
        self.init(CellScalars(glyph.text), width: glyph.width, style: style)
    }

    /// An empty cell on the terminal's own background.
    public static let blank = Cell(.space)

    /// Returns a cell for the right half of a wide character.
    static func rightHalf(_ style: Style) -> Cell { Cell(CellScalars(""), width: 0, style: style) }

    /// Whether the cell has a 24-bit colour.
    public var isTrueColour: Bool { appearance.isTrueColour }
}

/// The scalars of a cell's text. A glyph has at most five: a character and four marks.
private struct CellScalars: Hashable, Sendable {
    /// The first three scalars, beginning with the lowest bits. Zero bits follow the last scalar.
    private var first: UInt64 = 0
    /// The fourth and later scalars.
    private var second: UInt64 = 0

    private static let bits: UInt64 = 21
    /// The number of bits in `first`, which holds three scalars.
    private static let ofFirst = 3 * bits

    init(_ text: String) {
        var shift: UInt64 = 0
        for scalar in text.unicodeScalars {
            if shift < Self.ofFirst {
                first |= UInt64(scalar.value) << shift
            } else {
                second |= UInt64(scalar.value) << (shift - Self.ofFirst)
            }
            shift += Self.bits
            if shift == 2 * Self.ofFirst { break }
        }
    }

    func forEach(_ body: (Unicode.Scalar) -> Void) {
        Self.forEach(in: first, body)
        Self.forEach(in: second, body)
    }

    private static func forEach(in scalars: UInt64, _ body: (Unicode.Scalar) -> Void) {
        var rest = scalars
        while rest != 0, let scalar = Unicode.Scalar(UInt32(rest & ((1 << bits) - 1))) {
            body(scalar)
            rest >>= bits
        }
    }
}

/// The width and the style of a cell, as one number.
private struct CellAppearance: Hashable, Sendable {
    /// The foreground, background, attributes and width, in this order from the lowest bits.
    private let bits: UInt64

    private static let background: UInt64 = 26
    private static let attributes: UInt64 = 52
    private static let width: UInt64 = 60
    private static let trueColours = Colour.trueColour | Colour.trueColour << background

    init(width: Int, _ style: Style) {
        bits =
            style.foreground.bits | style.background.bits << Self.background
            | UInt64(style.attributes.rawValue) << Self.attributes | UInt64(width) << Self.width
    }

    var width: Int { Int(bits >> Self.width) }

    var style: Style {
        Style(
            foreground: Colour(bits: bits), background: Colour(bits: bits >> Self.background),
            attributes: Style.Attributes(rawValue: UInt8(truncatingIfNeeded: bits >> Self.attributes)))
    }

    var isTrueColour: Bool { bits & Self.trueColours != 0 }
}

extension Colour {
    /// The bit that marks a 24-bit colour.
    fileprivate static let trueColour: UInt64 = 1 << 25
    /// The bit that marks a colour of the palette.
    private static let ofPalette: UInt64 = 1 << 24

    /// The colour in 26 bits.
    fileprivate var bits: UInt64 {
        switch self {
        case .terminal: 0
        case .palette(let index): Self.ofPalette | UInt64(index)
        case .rgb(let red, let green, let blue):
            Self.trueColour | UInt64(red) << 16 | UInt64(green) << 8 | UInt64(blue)
        }
    }

    /// Creates a colour from the lowest 26 bits.
    fileprivate init(bits: UInt64) {
        let low = UInt8(truncatingIfNeeded: bits)
        if bits & Self.trueColour != 0 {
            self = .rgb(UInt8(truncatingIfNeeded: bits >> 16), UInt8(truncatingIfNeeded: bits >> 8), low)
        } else {
            self = bits & Self.ofPalette != 0 ? .palette(low) : .terminal
        }
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
    /// A colour of the terminal's palette. The user sets colours 0–15; colours 16–255 are a cube of 216 colours and 24
    /// greys.
    case palette(UInt8)
    /// A 24-bit colour: red, green and blue.
    case rgb(UInt8, UInt8, UInt8)
}

extension Colour {
    /// Returns the usual red, green and blue values of a palette colour.
    ///
    /// For the first 16 colours, which users set, these are xterm's values.
    public static func usualValues(ofPalette index: UInt8) -> (UInt8, UInt8, UInt8) {
        switch index {
        case 0..<16: return sixteen[Int(index)]
        case 16..<232:
            let cube = Int(index) - 16
            return (levels[cube / 36], levels[cube / 6 % 6], levels[cube % 6])
        default:
            let level = 8 + 10 * (index - 232)
            return (level, level, level)
        }
    }

    /// The values of red, green and blue in the cube.
    private static let levels: [UInt8] = [0, 95, 135, 175, 215, 255]

    private static let sixteen: [(UInt8, UInt8, UInt8)] = [
        (0, 0, 0), (205, 0, 0), (0, 205, 0), (205, 205, 0), (0, 0, 238), (205, 0, 205), (0, 205, 205), (229, 229, 229),
        (127, 127, 127), (255, 0, 0), (0, 255, 0), (255, 255, 0), (92, 92, 255), (255, 0, 255), (0, 255, 255),
        (255, 255, 255),
    ]
}
