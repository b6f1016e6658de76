import Cells
import Pixels

/// The style of drawn pictures: characters, colours, and pixels if the terminal supports them.
public struct DrawingStyle: Hashable, Sendable {
    /// A set of characters.
    public enum Symbols: String, Hashable, Sendable, CaseIterable {
        /// Letters chosen by shape, for terminals that show nothing else.
        case ascii
        /// Ten characters chosen by brightness.
        case ramp
        /// Half blocks: two pixels per cell, one above the other.
        case half
        /// Quarter blocks: two by two pixels per cell.
        case quadrant
        /// Sextants: two columns and three rows of pixels per cell. Many fonts lack them.
        case sextant

        /// The pixels that one cell shows.
        public var pixelsPerCell: (columns: Int, rows: Int) {
            switch self {
            case .ascii, .sextant: (2, 3)
            case .ramp: (1, 1)
            case .half: (1, 2)
            case .quadrant: (2, 2)
            }
        }
    }

    /// The characters.
    public var symbols: Symbols
    /// The number of colours.
    public var colours: ColourDepth
    /// A cell's width divided by its height.
    public var cellAspect: Double
    /// The terminal's support for pixels; nil to draw characters only.
    public var pixels: PixelCapabilities?
    /// The terminal's background, which shows through transparent pictures.
    public var background: Colour
    /// Whether a chequerboard shows through instead.
    public var isChequered: Bool

    /// Creates a style.
    public init(
        symbols: Symbols, colours: ColourDepth, cellAspect: Double, pixels: PixelCapabilities? = nil,
        background: Colour = .terminal, isChequered: Bool = false
    ) {
        self.symbols = symbols
        self.colours = colours
        self.cellAspect = cellAspect
        self.pixels = pixels
        self.background = background
        self.isChequered = isChequered
    }

    /// Creates the best style for a terminal.
    ///
    /// Sextants are used only if the terminal is known to have them, otherwise half blocks: every font has had those
    /// since code page 437. A font without quadrants would show boxes, and quadrants gain only a third of a decibel.
    /// Blocks depend on colours; without colours, letters look better.
    public init(_ capabilities: Capabilities) {
        let hasBlocks = capabilities.unicode && capabilities.colours != .none
        // Cells measured in pixels have exactly this shape.
        let measured = capabilities.pixels.map { Double($0.cellWidth) / Double($0.cellHeight) }
        self.init(
            symbols: !hasBlocks ? .ascii : capabilities.sextants ? .sextant : .half, colours: capabilities.colours,
            cellAspect: measured ?? capabilities.cellAspect, pixels: capabilities.pixels,
            background: capabilities.background)
    }

    /// The pixels decoded for each cell: the cell's screen pixels, or those that its character shows.
    var pixelsPerCell: (columns: Int, rows: Int) {
        pixels.map { ($0.cellWidth, $0.cellHeight) } ?? symbols.pixelsPerCell
    }

    /// The width of a decoded pixel on the screen, divided by its height.
    var pixelAspect: Double {
        let pixels = pixelsPerCell
        return cellAspect * Double(pixels.rows) / Double(pixels.columns)
    }

    /// The decoder request for a picture that fits the space.
    func request(_ size: Size) -> DecodeRequest {
        let pixels = pixelsPerCell
        var request = DecodeRequest(
            box: PixelSize(width: size.columns * pixels.columns, height: size.rows * pixels.rows))
        request.pixelAspect = pixelAspect
        if let knownBackground { request.background = knownBackground }
        request.isChequered = isChequered
        return request
    }

    /// The terminal's background, if its colour is known.
    var knownBackground: PixelColor? {
        guard case .rgb(let red, let green, let blue) = background else { return nil }
        return PixelColor(red: red, green: green, blue: blue)
    }
}
