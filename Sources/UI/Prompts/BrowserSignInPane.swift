import Cells
import Model
import Session
import Text

/// The sign-in prompt while the user signs in with the browser.
///
/// The pane shows the address of the server's page, also as a QR code if the frame has room for the code.
struct BrowserSignInPane {
    /// The progress of the sign-in. Not private because the prompt changes this value.
    var stage: BrowserSignIn.Stage
    /// Whether the prompt sends the address to the terminal's clipboard.
    let hasClipboard: Bool

    /// The address of the server's sign-in page. Nil before the server has sent the address, and after the sign-in
    /// ends.
    var page: Address? { if case .waiting(let page) = stage { page } else { nil } }

    /// Whether the sign-in failed, so that the user can start another one.
    var hasFailed: Bool { if case .failed = stage { true } else { false } }

    /// The contents of the bottom line.
    var footing: String {
        if page != nil, hasClipboard { return "Enter: copy the address again  Esc: cancel" }
        return hasFailed ? "Enter: try again  Esc: cancel" : "Esc: cancel"
    }

    private var waitingText: String {
        (hasClipboard ? "Sent the address to the clipboard. " : "") + "Vitrine waits for your sign-in."
    }

    /// Returns the lines of the pane.
    private func lines(width: Int) -> [(text: String, isTrouble: Bool)] {
        switch stage {
        case .starting, .granted: [("Asking the server for a sign-in page", false)]
        case .waiting(let page):
            "Open this address in your browser:".wrapped(toWidth: width).map { ($0, false) }
                + page.text.cut(toWidth: width).map { ($0, false) }
                + waitingText.wrapped(toWidth: width).map { ($0, false) }
        case .failed(let failure):
            "The sign-in failed: \(failure.reason.madeVisible).".wrapped(toWidth: width).map {
                ($0.truncated(toWidth: width), true)
            }
        }
    }

    /// The place of the QR code: left of the text, or above the text, or nowhere.
    private enum CodePlace { case left, above, none }

    /// Draws the pane over the bottom of the frame.
    ///
    /// - Parameters:
    ///   - heading: returns the lines above the pane's own lines, such as the name of the server.
    ///   - keepingWidth: the columns of the choice that `drawKeeping` draws. The text beside a QR code gets so many.
    ///   - drawKeeping: draws the choice of the place where Vitrine keeps the password.
    func draw(
        in surface: inout Surface, frame: Rect, theme: Theme,
        heading: (_ width: Int) -> [(text: String, isTrouble: Bool)], keepingWidth: Int,
        drawKeeping: (inout Surface, Rect) -> Void
    ) {
        let width = max(1, frame.size.columns - 2)
        // Screen readers cannot read the code.
        let code = theme.signs.isPlain ? nil : page.flatMap { QRDrawing($0.text, theme.code) }
        var all = heading(width) + lines(width: width)
        let place = place(of: code, beside: Size(columns: keepingWidth, rows: all.count + 1), in: frame.size)
        var height = all.count + 1
        if let code, place == .left {
            all = heading(width - code.size.columns - 1) + lines(width: width - code.size.columns - 1)
            height = max(code.size.rows, all.count + 1)
        } else if let code, place == .above {
            height += code.size.rows
        }
        var rest = frame
        var pane = rest.takeBottom(min(frame.size.rows, height + 1))
        surface.fill(pane, style: theme.status)
        if pane.size.rows > height { theme.drawRule(in: &surface, &pane) }
        pane.trimSides()
        if let code, place == .left {
            code.draw(in: &surface, pane.takeLeft(code.size.columns))
            _ = pane.takeLeft(1)
        } else if let code, place == .above {
            code.draw(in: &surface, pane.takeTop(code.size.rows))
        }
        for line in all.prefix(max(0, pane.size.rows - 1)) {
            surface.write(line.text, in: pane.takeTop(1), style: line.isTrouble ? theme.trouble : theme.name)
        }
        drawKeeping(&surface, pane.takeTop(1))
    }

    /// Returns the place of the code.
    ///
    /// - Parameter text: the fewest columns for the text, and its rows if it has the whole width.
    private func place(of code: QRDrawing?, beside text: Size, in size: Size) -> CodePlace {
        guard let code else { return .none }
        // The text beside the code is narrower and needs more rows.
        let isWide = size.columns >= code.size.columns + 3 + text.columns
        if isWide, size.rows > max(code.size.rows, 2 * text.rows) { return .left }
        let isHigh = size.rows > code.size.rows + text.rows
        return isHigh && size.columns >= code.size.columns + 2 ? .above : .none
    }
}

extension String {
    /// Returns the text in lines of this width. Makes control characters visible.
    func cut(toWidth width: Int) -> [String] {
        var lines = [""]
        for character in madeVisible {
            if lines[lines.count - 1].displayWidth + String(character).displayWidth > width { lines.append("") }
            lines[lines.count - 1].append(character)
        }
        return lines
    }
}

/// A QR code on the screen.
///
/// Each cell contains two modules (squares of the code). On terminals with only ASCII, each module takes two cells.
/// Cameras expect dark modules on a light background, so the drawing has colours of its own.
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

    /// Returns whether a character fills a module. Characters fill the dark modules. Without colours, they fill the
    /// light modules if the terminal's text is light.
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
