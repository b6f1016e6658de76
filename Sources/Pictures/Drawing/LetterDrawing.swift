import Cells
import Pixels
import Text

/// Draws pixels as letters and signs, on the assumption that they are bright and what is behind them is dark.
struct LetterDrawing {
    private let picture: PixelBuffer
    private let colours: ColourDepth
    private let levels: ToneLevels

    init(_ picture: PixelBuffer, _ colours: ColourDepth) {
        self.picture = picture
        self.colours = colours
        levels = ToneLevels(picture)
    }

    /// For each cell the character that looks like its six pixels.
    func shapes() -> CellBlock {
        let shapes = GlyphShapes()
        let size = Size(columns: (picture.width + 1) / 2, rows: (picture.height + 2) / 3)
        return cells(size) { column, row in
            var tones = SIMD8<Float>.zero
            var sum = PartColour.zero
            for part in 0..<6 {
                let pixel = pixel(2 * column + part % 2, 3 * row + part / 2)
                tones[part] = levels.tone(at: pixel, of: picture)
                sum = sum + colour(pixel)
            }
            return (shapes.glyph(for: tones), sum.mean(of: 6))
        }
    }

    /// For each pixel the character that is as bright, of ten.
    func ramp() -> CellBlock {
        let glyphs = " .:-=+*#%@".map { Glyph($0) }
        return cells(Size(columns: picture.width, rows: picture.height)) { column, row in
            let pixel = pixel(column, row)
            let tone = levels.tone(at: pixel, of: picture)
            return (glyphs[Int((tone * Float(glyphs.count - 1)).rounded())], colour(pixel))
        }
    }

    private func cells(_ size: Size, _ cell: (Int, Int) -> (Glyph, PartColour)) -> CellBlock {
        var cells: [Cell] = []
        cells.reserveCapacity(size.columns * size.rows)
        for row in 0..<size.rows {
            for column in 0..<size.columns {
                let (glyph, colour) = cell(column, row)
                cells.append(Cell(glyph, style: Style(foreground: shown(colour))))
            }
        }
        return CellBlock(size: size, cells: cells)
    }

    /// The number of a pixel; beyond the edge, of the nearest.
    private func pixel(_ x: Int, _ y: Int) -> Int {
        min(y, picture.height - 1) * picture.width + min(x, picture.width - 1)
    }

    private func colour(_ pixel: Int) -> PartColour {
        picture.bytes.withUnsafeBufferPointer { bytes in
            PartColour(
                red: Int32(bytes[3 * pixel]), green: Int32(bytes[3 * pixel + 1]), blue: Int32(bytes[3 * pixel + 2]))
        }
    }

    private func shown(_ colour: PartColour) -> Colour {
        let (red, green, blue) = (UInt8(colour.red), UInt8(colour.green), UInt8(colour.blue))
        switch colours {
        case .none: return .terminal
        case .eight, .sixteen:
            let count = colours == .eight ? 8 : 16
            return .palette(Palette.nearest(ofFirst: count, red: Int(red), green: Int(green), blue: Int(blue)))
        case .palette: return .palette(Palette.nearest(red: red, green: green, blue: blue))
        case .full: return .rgb(red, green, blue)
        }
    }
}
