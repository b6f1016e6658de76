import Cells
import Pixels
import Text

/// Draws pixels as cells.
enum SymbolDrawing {
    /// The cells of a picture that was decoded for a style.
    static func draw(_ picture: PixelBuffer, _ style: DrawingStyle) -> CellBlock {
        switch style.symbols {
        case .half: halfBlocks(picture, style)
        case .ascii: letters(picture, style)
        }
    }

    /// The upper half in the text's colour, the lower one in the background's.
    private static func halfBlocks(_ picture: PixelBuffer, _ style: DrawingStyle) -> CellBlock {
        let colours = ColourReduction(picture, to: style.colours)
        let size = Size(columns: picture.width, rows: (picture.height + 1) / 2)
        var cells: [Cell] = []
        cells.reserveCapacity(size.columns * size.rows)
        for row in 0..<size.rows {
            for column in 0..<size.columns {
                let upper = colours[column, 2 * row]
                // Below the last of an odd number of rows there is nothing of the picture.
                let lower = 2 * row + 1 < picture.height ? colours[column, 2 * row + 1] : .terminal
                cells.append(
                    upper == lower
                        ? Cell(.space, style: Style(background: upper))
                        : Cell(upperHalf, style: Style(foreground: upper, background: lower)))
            }
        }
        return CellBlock(size: size, cells: cells)
    }

    private static let upperHalf = Glyph("▀")

    /// For each cell the letter that looks like it, on the assumption that letters are bright and what is behind them is
    /// dark.
    private static func letters(_ picture: PixelBuffer, _ style: DrawingStyle) -> CellBlock {
        let size = Size(columns: (picture.width + 1) / 2, rows: (picture.height + 2) / 3)
        let levels = ToneLevels(picture)
        let shapes = GlyphShapes()
        var cells: [Cell] = []
        cells.reserveCapacity(size.columns * size.rows)
        for row in 0..<size.rows {
            for column in 0..<size.columns {
                let pixels = (0..<6).map { color(picture, 2 * column + $0 % 2, 3 * row + $0 / 2) }
                let glyph = shapes.glyph(for: pixels.map { levels.tone(of: $0) })
                cells.append(Cell(glyph, style: Style(foreground: colour(average(pixels), style.colours))))
            }
        }
        return CellBlock(size: size, cells: cells)
    }

    /// A pixel; beyond the edge, the nearest.
    private static func color(_ picture: PixelBuffer, _ x: Int, _ y: Int) -> (UInt8, UInt8, UInt8) {
        let place = (min(y, picture.height - 1) * picture.width + min(x, picture.width - 1)) * 3
        return (picture.bytes[place], picture.bytes[place + 1], picture.bytes[place + 2])
    }

    private static func average(_ pixels: [(UInt8, UInt8, UInt8)]) -> (UInt8, UInt8, UInt8) {
        func mean(_ channel: KeyPath<(UInt8, UInt8, UInt8), UInt8>) -> UInt8 {
            UInt8(pixels.reduce(0) { $0 + Int($1[keyPath: channel]) } / pixels.count)
        }
        return (mean(\.0), mean(\.1), mean(\.2))
    }

    private static func colour(_ colour: (UInt8, UInt8, UInt8), _ depth: ColourDepth) -> Colour {
        switch depth {
        case .none: .terminal
        case .eight, .sixteen:
            .palette(
                Palette.nearest(
                    ofFirst: depth == .eight ? 8 : 16, red: Int(colour.0), green: Int(colour.1), blue: Int(colour.2)))
        case .palette: .palette(Palette.nearest(red: colour.0, green: colour.1, blue: colour.2))
        case .full: .rgb(colour.0, colour.1, colour.2)
        }
    }
}
