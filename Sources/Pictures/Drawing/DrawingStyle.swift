import Cells
import Pixels

/// How pictures are drawn: with which characters, and with pixels over them where the terminal takes them.
public struct DrawingStyle: Hashable, Sendable {
    /// Which characters.
    public enum Symbols: String, Hashable, Sendable, CaseIterable {
        /// Letters and signs by what they look like from afar. For terminals that show nothing else.
        case ascii
        /// Ten signs by how bright they are.
        case ramp
        /// Half blocks: two pixels a cell, one above the other.
        case half
        /// Quarters of a cell.
        case quadrant
        /// Sixths of a cell: two columns, three rows. Many fonts do not have them.
        case sextant

        /// Pixels of a picture that one cell shows.
        public var pixelsPerCell: (columns: Int, rows: Int) {
            switch self {
            case .ascii, .sextant: (2, 3)
            case .ramp: (1, 1)
            case .half: (1, 2)
            case .quadrant: (2, 2)
            }
        }
    }

    /// Which characters.
    public var symbols: Symbols
    /// In how many colours.
    public var colours: ColourDepth
    /// The width of a cell divided by its height.
    public var cellAspect: Double
    /// How the terminal takes pixels; nil for characters alone.
    public var pixels: PixelCapabilities?
    /// What is behind the text; pictures with holes show it.
    public var background: Colour
    /// Whether they show a chequer in its stead.
    public var isChequered: Bool

    /// A style.
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

    /// The best that a terminal can show.
    ///
    /// Sextants where it is known to have them. Where that is not known, half blocks: every font has them since code page 437,
    /// while a font without quadrants shows a picture of little boxes, and those that have quadrants gain a third of a
    /// decibel. Blocks show a picture by colours; with none, letters do it better.
    public init(_ capabilities: Capabilities) {
        let hasBlocks = capabilities.unicode && capabilities.colours != .none
        // Where cells were measured in pixels, that is their shape.
        let measured = capabilities.pixels.map { Double($0.cellWidth) / Double($0.cellHeight) }
        self.init(
            symbols: !hasBlocks ? .ascii : capabilities.sextants ? .sextant : .half, colours: capabilities.colours,
            cellAspect: measured ?? capabilities.cellAspect, pixels: capabilities.pixels,
            background: capabilities.background)
    }

    /// Pixels that are decoded for each cell: those of the screen, or as many as its character shows.
    var pixelsPerCell: (columns: Int, rows: Int) {
        pixels.map { ($0.cellWidth, $0.cellHeight) } ?? symbols.pixelsPerCell
    }

    /// The width of one of the picture's pixels divided by its height, on the screen.
    var pixelAspect: Double {
        let pixels = pixelsPerCell
        return cellAspect * Double(pixels.rows) / Double(pixels.columns)
    }

    /// What the decoder is asked for to fill a room, or as much of it as a picture needs.
    func request(_ room: Size) -> DecodeRequest {
        let pixels = pixelsPerCell
        var request = DecodeRequest(
            box: PixelSize(width: room.columns * pixels.columns, height: room.rows * pixels.rows))
        request.pixelAspect = pixelAspect
        if let knownBackground { request.background = knownBackground }
        request.isChequered = isChequered
        return request
    }

    /// What is behind the text, if that is known.
    var knownBackground: PixelColor? {
        guard case .rgb(let red, let green, let blue) = background else { return nil }
        return PixelColor(red: red, green: green, blue: blue)
    }
}
