import Cells
import Glibc
import Pictures

/// Draws pictures with half blocks in 24-bit colours:
///
///     swift run example-pictures DECODER PICTURE…
///
/// DECODER is the path of vitrine-decoder, which decodes each picture in a process of its own, without files and network.
@main
enum PicturesExample {
    static func main() {
        guard CommandLine.arguments.count > 2 else {
            print("usage: example-pictures DECODER PICTURE…")
            exit(2)
        }
        let decoder = DecoderClient(path: CommandLine.arguments[1])
        let style = DrawingStyle(symbols: .half, colours: .full, cellAspect: 0.5)
        var areAllDrawn = true
        for path in CommandLine.arguments.dropFirst(2) {
            do {
                let picture = try decoder.draw(.file(path), size: Size(columns: 40, rows: 20), style: style)
                print("\(path): \(picture.width) × \(picture.height) pixels")
                show(picture.cells)
            } catch {
                areAllDrawn = false
                print("\(path): \(error)")
            }
        }
        exit(areAllDrawn ? 0 : 1)
    }

    private static func show(_ block: CellBlock) {
        for row in 0..<block.size.rows {
            let cells = (0..<block.size.columns).map { block[$0, row] }
            print(cells.map(text).joined() + "\u{1B}[m")
        }
    }

    private static func text(_ cell: Cell) -> String {
        "\u{1B}[m" + code(38, cell.style.foreground) + code(48, cell.style.background) + cell.text
    }

    /// Returns the sequence that sets the colour of the text (38) or the background (48).
    private static func code(_ ground: Int, _ colour: Colour) -> String {
        switch colour {
        case .terminal: ""
        case .palette(let number): "\u{1B}[\(ground);5;\(number)m"
        case .rgb(let red, let green, let blue): "\u{1B}[\(ground);2;\(red);\(green);\(blue)m"
        }
    }
}
