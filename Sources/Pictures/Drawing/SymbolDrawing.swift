import Cells
import Pixels

/// Draws pixels as cells.
public enum SymbolDrawing {
    /// The cells of a picture that has as many pixels a cell as the style wants.
    public static func draw(_ picture: PixelBuffer, _ style: DrawingStyle) -> CellBlock {
        switch style.symbols {
        case .half, .quadrant, .sextant: BlockDrawing(picture, style.symbols).cells(style.colours)
        case .ascii: LetterDrawing(picture, style.colours).shapes()
        case .ramp: LetterDrawing(picture, style.colours).ramp()
        }
    }
}
