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

    /// A letter as dark as its cell, on the assumption that letters are bright and what is behind them is dark.
    private static func letters(_ picture: PixelBuffer, _ style: DrawingStyle) -> CellBlock {
        let size = Size(columns: picture.width, rows: (picture.height + 1) / 2)
        let levels = ToneLevels(picture)
        var cells: [Cell] = []
        cells.reserveCapacity(size.columns * size.rows)
        for row in 0..<size.rows {
            for column in 0..<size.columns {
                let colour = average(picture, column, 2 * row)
                let tone = levels.tone(of: colour)
                let glyph = ramp[min(ramp.count - 1, Int(tone * Double(ramp.count)))]
                cells.append(Cell(glyph, style: Style(foreground: Self.colour(colour, style.colours))))
            }
        }
        return CellBlock(size: size, cells: cells)
    }

    /// From dark to bright, by how much of its cell a letter fills in common fonts.
    private static let ramp = " .'`^,:;!~-_+<>i?lI1)(|/tfjrxnuvczXYUJCLQ0OZmwqpdbkhao*#MW&8%B@$".map { Glyph($0) }

    private static func average(_ picture: PixelBuffer, _ column: Int, _ row: Int) -> (UInt8, UInt8, UInt8) {
        let upper = (row * picture.width + column) * 3
        let lower = row + 1 < picture.height ? upper + picture.width * 3 : upper
        func mean(_ channel: Int) -> UInt8 {
            UInt8((Int(picture.bytes[upper + channel]) + Int(picture.bytes[lower + channel]) + 1) / 2)
        }
        return (mean(0), mean(1), mean(2))
    }

    private static func colour(_ colour: (UInt8, UInt8, UInt8), _ depth: ColourDepth) -> Colour {
        switch depth {
        case .none: .terminal
        case .sixteen: .palette(Palette.nearestOfSixteen(red: Int(colour.0), green: Int(colour.1), blue: Int(colour.2)))
        case .palette: .palette(Palette.nearest(red: colour.0, green: colour.1, blue: colour.2))
        case .full: .rgb(colour.0, colour.1, colour.2)
        }
    }
}
