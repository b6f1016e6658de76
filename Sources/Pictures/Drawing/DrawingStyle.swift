import Cells
import Pixels

/// The style of drawn pictures: characters, colours, and pixels if the terminal supports them.
public struct DrawingStyle: Hashable, Sendable {
    /// A set of characters for drawing pictures.
    public enum Symbols: String, Hashable, Sendable, CaseIterable {
        /// ASCII characters chosen by shape, for terminals that show no other characters.
        case ascii
        /// Ten characters, chosen by the brightness of the pixel.
        case ramp
        /// Half blocks, which show two pixels per cell, one above the other.
        case half
        /// Quarter blocks, which show two by two pixels per cell.
        case quadrant
        /// Sextants, which show two columns and three rows of pixels per cell. Many fonts lack sextants.
        case sextant

        /// The number of pixels that one cell shows.
        public var pixelsPerCell: (columns: Int, rows: Int) {
            switch self {
            case .ascii, .sextant: (2, 3)
            case .ramp: (1, 1)
            case .half: (1, 2)
            case .quadrant: (2, 2)
            }
        }
    }

    /// The set of characters.
    public var symbols: Symbols
    /// The number of colours that the terminal shows.
    public var colours: ColourDepth
    /// A cell's width divided by its height.
    public var cellAspect: Double
    /// The terminal's support for pixels; nil to draw with characters only.
    public var pixels: PixelCapabilities?
    /// The terminal's background, which shows through transparent pictures.
    public var background: Colour
    /// Whether a chequerboard, not the background, shows through transparent pictures.
    public var isChequered: Bool

    /// Whether the terminal can swap text and background colour (reverse video).
    public var reverses: Bool
    /// Whether the terminal's background is brighter than its text. Only drawings without colours depend on this.
    public var isOnLight = false

    /// Creates a style.
    public init(
        symbols: Symbols, colours: ColourDepth, cellAspect: Double, pixels: PixelCapabilities? = nil,
        background: Colour = .terminal, isChequered: Bool = false, reverses: Bool = true
    ) {
        self.symbols = symbols
        self.colours = colours
        self.cellAspect = cellAspect
        self.pixels = pixels
        self.background = background
        self.isChequered = isChequered
        self.reverses = reverses
    }

    /// Creates the best style for a terminal with these capabilities.
    ///
    /// The style uses sextants only if the terminal is known to have them. Otherwise it uses half blocks, which fonts
    /// have contained since code page 437. It never uses quadrants: a font without quadrants would show boxes, and
    /// quadrants gain only a third of a decibel. Blocks need colours; without colours, letters look better.
    public init(_ capabilities: Capabilities) {
        let hasBlocks = capabilities.unicode && capabilities.colours != .none
        // If the size of a cell in pixels is known, this size gives the exact shape.
        let measured = capabilities.pixels.map { Double($0.cellWidth) / Double($0.cellHeight) }
        self.init(
            symbols: !hasBlocks ? .ascii : capabilities.sextants ? .sextant : .half, colours: capabilities.colours,
            cellAspect: measured ?? capabilities.cellAspect, pixels: capabilities.pixels,
            background: capabilities.background, reverses: capabilities.reverses)
    }

    /// Whether pictures consist of ASCII characters alone.
    public var isInLetters: Bool { pixels == nil && (symbols == .ascii || symbols == .ramp) }

    /// The number of pixels to decode for each cell. These are the cell's screen pixels if the terminal supports
    /// pixels, otherwise the pixels that a character shows.
    var pixelsPerCell: (columns: Int, rows: Int) {
        pixels.map { ($0.cellWidth, $0.cellHeight) } ?? symbols.pixelsPerCell
    }

    /// The width of a decoded pixel on the screen, divided by its height.
    var pixelAspect: Double {
        let pixels = pixelsPerCell
        return cellAspect * Double(pixels.rows) / Double(pixels.columns)
    }

    /// Returns the decoder request for a picture that fits into the given cells.
    func request(_ size: Size) -> DecodeRequest {
        let pixels = pixelsPerCell
        var request = DecodeRequest(
            box: PixelSize(width: size.columns * pixels.columns, height: size.rows * pixels.rows))
        request.pixelAspect = pixelAspect
        if let knownBackground { request.background = knownBackground }
        request.isChequered = isChequered
        return request
    }

    /// The colour of the terminal's background; nil if unknown.
    var knownBackground: PixelColor? {
        guard case .rgb(let red, let green, let blue) = background else { return nil }
        return PixelColor(red: red, green: green, blue: blue)
    }
}
