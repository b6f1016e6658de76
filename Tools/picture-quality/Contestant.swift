import Cells
import Decoding
import Pictures
import PictureTestSupport
import Pixels

/// A way to draw pictures with characters.
struct Contestant {
    let name: String
    /// Draws a photo, given all pixels of the screen.
    let draw: (Photo) throws -> [[ShownCell]]

    /// Vitrine's drawing.
    static func vitrine(_ symbols: DrawingStyle.Symbols, _ depth: ColourDepth) -> Contestant {
        Contestant(name: "vitrine \(symbols)") { photo in
            let style = DrawingStyle(symbols: symbols, colours: depth, cellAspect: 0.5)
            let parts = symbols.pixelsPerCell
            let cells = SymbolDrawing.draw(
                try photo.pixels(photo.columns * parts.columns, photo.rows * parts.rows), style)
            return (0..<cells.size.rows).map { row in
                (0..<cells.size.columns).map { ShownCell(cells[$0, row], TerminalPalette()) }
            }
        }
    }

    /// chafa's drawing of the same pixels for the same cells.
    static func chafa(_ symbols: String, _ colours: String, _ more: String...) -> Contestant {
        Contestant(name: "chafa \(symbols) \(more.joined(separator: " "))") { photo in
            let text = try Tool.run(
                "/usr/bin/chafa",
                [
                    "-f", "symbols", "--symbols", symbols, "-c", colours, "-w", "5", "--stretch", "--size",
                    "\(photo.columns)x\(photo.rows)", "--animate", "off",
                ] + more + [photo.file], input: [])
            return try CellText(text, TerminalPalette()).rows
        }
    }
}
