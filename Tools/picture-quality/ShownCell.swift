import Cells

/// A cell as a terminal shows it: a character and two colours.
struct ShownCell {
    let character: Unicode.Scalar
    let foreground: SIMD3<Float>
    let background: SIMD3<Float>

    static let white = SIMD3<Float>(repeating: 255)
    static let black = SIMD3<Float>.zero

    init(_ character: Unicode.Scalar, _ foreground: SIMD3<Float>, _ background: SIMD3<Float>) {
        self.character = character
        self.foreground = foreground
        self.background = background
    }

    /// Converts Vitrine's cell for a terminal with white text on black.
    init(_ cell: Cell, _ palette: TerminalPalette) {
        self.init(
            cell.text.unicodeScalars.first ?? " ", palette.colour(cell.style.foreground) ?? Self.white,
            palette.colour(cell.style.background) ?? Self.black)
    }
}
