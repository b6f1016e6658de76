import Cells
import Model
import Session
import Text

/// The sign-in prompt while the user signs in with the browser.
///
/// The pane shows the address of the server's page, also as a QR code if the frame has room for the code.
struct BrowserSignInPane {
    /// The progress of the sign-in. Not private because the prompt follows it.
    var stage: BrowserSignIn.Stage

    /// The address of the server's page; nil before the server has named it, and after the end.
    var page: Address? { if case .waiting(let page) = stage { page } else { nil } }

    /// Whether the sign-in failed, so that the user can start another one.
    var hasFailed: Bool { if case .failed = stage { true } else { false } }

    /// The contents of the bottom line.
    var footing: String {
        if page != nil { return "Enter: copy the address again  Esc: cancel" }
        return hasFailed ? "Enter: try again  Esc: cancel" : "Esc: cancel"
    }

    /// Returns the lines of the pane.
    private func lines(width: Int) -> [(text: String, isTrouble: Bool)] {
        switch stage {
        case .starting, .granted: [("Asking the server for a sign-in page", false)]
        case .waiting(let page):
            "Open this address in your browser:".wrapped(toWidth: width).map { ($0, false) }
                + page.text.cut(toWidth: width).map { ($0, false) }
                + "Vitrine sent the address to the clipboard and waits.".wrapped(toWidth: width).map { ($0, false) }
        case .failed(let failure):
            "The sign-in failed: \(failure.reason.madeVisible).".wrapped(toWidth: width).map {
                ($0.truncated(toWidth: width), true)
            }
        }
    }

    /// The place of the QR code: left of the text, or above the text, or nowhere.
    private enum CodePlace { case left, above, none }

    /// The fewest columns for the text beside a QR code.
    private static let narrowestText = 34

    /// Draws the pane over the bottom of the frame.
    ///
    /// - Parameters:
    ///   - heading: returns the lines above the pane's own lines, such as the name of the server.
    ///   - drawKeeping: draws the choice of the place where Vitrine keeps the password.
    func draw(
        in surface: inout Surface, frame: Rect, theme: Theme,
        heading: (_ width: Int) -> [(text: String, isTrouble: Bool)], drawKeeping: (inout Surface, Rect) -> Void
    ) {
        let width = max(1, frame.size.columns - 2)
        // Screen readers cannot read the code.
        let code = theme.signs.isPlain ? nil : page.flatMap { QRDrawing($0.text, theme.code) }
        var all = heading(width) + lines(width: width)
        let place = place(of: code, beside: all.count + 1, in: frame.size)
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
        if pane.size.rows > height {
            let rule = pane.takeTop(1)
            surface.write(theme.signs.rule(rule.size.columns), in: rule, style: theme.detail)
        }
        _ = pane.takeLeft(1)
        _ = pane.takeRight(1)
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

    private func place(of code: QRDrawing?, beside textRows: Int, in size: Size) -> CodePlace {
        guard let code else { return .none }
        // The text beside the code is narrower and needs more rows.
        let isWide = size.columns >= code.size.columns + 3 + Self.narrowestText
        if isWide, size.rows > max(code.size.rows, 2 * textRows) { return .left }
        let isHigh = size.rows > code.size.rows + textRows
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
