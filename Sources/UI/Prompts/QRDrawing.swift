import Cells
import Text

/// A QR code on the screen.
///
/// Each cell contains two modules. On terminals with only ASCII, each module takes two cells. Cameras expect dark
/// modules on light ones, so the drawing has colours of its own.
struct QRDrawing {
    /// The way to draw QR codes on a terminal.
    struct Look {
        fileprivate let hasUnicode: Bool
        /// The colours of dark and light modules; nil without colours.
        fileprivate let colours: (dark: Colour, light: Colour)?
        /// Whether text is darker than the background. Used only without colours.
        fileprivate let isTextDark: Bool

        init(_ capabilities: Capabilities, _ kind: ThemeKind) {
            hasUnicode = capabilities.unicode
            isTextDark = ThemeKind.isLight(capabilities.background)
            guard kind != .mono, capabilities.colours != .none else {
                colours = nil
                return
            }
            // The user may have changed the first sixteen colours.
            let hasCube = capabilities.colours >= .palette
            let white: Colour = capabilities.colours == .eight ? .palette(7) : .palette(15)
            colours = hasCube ? (.palette(16), .palette(231)) : (.palette(0), white)
        }
    }

    private let code: QRCode
    private let look: Look

    /// The number of light modules around the code. The standard asks for four, but programs read codes with two.
    private static let border = 2

    /// Creates the drawing of a text. Returns nil if the text is too long.
    init?(_ text: String, _ look: Look) {
        guard let code = QRCode(text) else { return nil }
        (self.code, self.look) = (code, look)
    }

    private var side: Int { code.side + 2 * Self.border }

    /// The size of the drawing in cells.
    var size: Size {
        look.hasUnicode ? Size(columns: side, rows: (side + 1) / 2) : Size(columns: 2 * side, rows: side)
    }

    /// Draws the code into a rectangle of its size.
    func draw(in surface: inout Surface, _ frame: Rect) {
        var rest = frame
        for row in 0..<size.rows {
            let line = rest.takeTop(1)
            if look.hasUnicode { drawPair(row, in: &surface, line) } else { drawWide(row, in: &surface, line) }
        }
    }

    /// Whether a module of the drawing is dark. The border is light.
    private func isDark(_ column: Int, _ row: Int) -> Bool { code[column - Self.border, row - Self.border] }

    /// Whether a module has the colour of text. Without colours, text may be light.
    private func isInk(_ column: Int, _ row: Int) -> Bool {
        isDark(column, row) == (look.colours != nil || look.isTextDark)
    }

    /// Draws two rows of modules in one row of cells.
    private func drawPair(_ row: Int, in surface: inout Surface, _ line: Rect) {
        let text = (0..<side).map { column in
            switch (isInk(column, 2 * row), isInk(column, 2 * row + 1)) {
            case (true, true): "█"
            case (true, false): "▀"
            case (false, true): "▄"
            case (false, false): " "
            }
        }.joined()
        let style = look.colours.map { Style(foreground: $0.dark, background: $0.light) }
        surface.write(text, in: line, style: style ?? .plain)
    }

    /// Draws a row of modules, each two cells wide.
    private func drawWide(_ row: Int, in surface: inout Surface, _ line: Rect) {
        var rest = line
        for column in 0..<side {
            // The characters have the colour of their background, so that the module is one solid square.
            let colour = look.colours.map { isDark(column, row) ? $0.dark : $0.light } ?? .terminal
            surface.write(
                isInk(column, row) ? "##" : "  ", in: rest.takeLeft(2),
                style: Style(foreground: colour, background: colour))
        }
    }
}
