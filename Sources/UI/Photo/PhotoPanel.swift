import Cells
import Commands
import Model
import Pictures
import Text

/// The information panel beside or below a photo: its contents, its scrolling and its drawing.
struct PhotoPanel {
    enum Content {
        case none
        /// The usual facts and the histogram.
        case facts
        /// The facts and all metadata.
        case everything
    }

    private(set) var content = Content.none
    /// The panel's frame in the last frame of the screen, for the mouse and the cursor.
    private(set) var frame = Rect(Size(columns: 0, rows: 0))
    /// The first visible line.
    private var first = 0
    private var count = 0
    private var visible = 0

    /// In narrower windows the panel is below the picture.
    private static let leastWidth = 100
    /// Lower panels have no line between them and the picture.
    private static let leastHeight = 4

    /// Begins with another photo.
    mutating func scrollToTop() { first = 0 }

    // MARK: - Commands

    /// Performs a command of the panel. Returns false for other commands.
    mutating func perform(_ command: Command) -> Bool {
        switch command {
        case .information:
            content = content == .none ? .facts : content == .facts ? .everything : .none
            first = 0
            return true
        case _ where content != .everything: return false
        case .up: scroll(by: -1)
        case .down: scroll(by: 1)
        case .pageUp: scroll(by: -max(1, visible - 1))
        case .pageDown: scroll(by: max(1, visible - 1))
        case .first: scroll(by: -count)
        case .last: scroll(by: count)
        default: return false
        }
        return true
    }

    /// Scrolls to a line, if the panel shows all metadata. Returns whether it does.
    mutating func goTo(line: Int) -> Bool {
        guard content == .everything else { return false }
        scroll(by: line - first)
        return true
    }

    /// Follows the wheel. Returns whether it scrolled.
    mutating func follow(_ mouse: InputEvent.Mouse) -> Bool {
        switch mouse.action {
        case .wheelUp: scroll(by: -3)
        case .wheelDown: scroll(by: 3)
        default: return false
        }
        return true
    }

    private mutating func scroll(by lines: Int) {
        first = max(0, min(first + lines, count - visible))
    }

    // MARK: - Drawing

    /// Takes the panel's space from the picture's: on the right of a wide window, otherwise at the bottom.
    mutating func takeSpace(_ rest: inout Rect) {
        frame = space(&rest)
    }

    /// Takes the whole space, in plain mode. The panel shows at least the facts.
    mutating func takeAll(_ frame: Rect) {
        self.frame = frame
        if content == .none { content = .facts }
    }

    private func space(_ rest: inout Rect) -> Rect {
        guard content != .none else { return Rect(Size(columns: 0, rows: 0)) }
        if rest.size.columns >= Self.leastWidth { return rest.takeRight(max(42, min(52, rest.size.columns / 3))) }
        // In a very low window the panel is more important than the picture.
        let half = max(rest.size.rows / 2, min(Self.leastHeight, rest.size.rows - 1))
        return rest.takeBottom(min(content == .facts ? 11 : 14, half))
    }

    /// Draws the report of a photo, and its histogram if the file has been examined.
    @MainActor
    mutating func draw(
        _ report: PhotoReport, _ histogram: Histogram?, _ context: ScreenContext, in surface: inout Surface
    ) {
        guard isVisible else { return }
        var rest = frame
        // Overwrites the previous photo's picture.
        surface.fill(rest)
        drawRule(context.theme, in: &surface, &rest)
        switch content {
        case .none: break
        case .facts:
            if let histogram, !context.settings.plain {
                let needed = isBeside ? report.facts(width: rest.size.columns).count + 1 : 0
                let space = takeHistogramSpace(&rest, leaving: needed)
                HistogramDrawing(theme: context.theme).draw(histogram, in: &surface, space)
            }
            draw(report.facts(width: rest.size.columns), context.theme, in: &surface, rest)
        case .everything:
            draw(report.everything(width: rest.size.columns), context.theme, in: &surface, rest)
        }
    }

    /// Whether the panel is open and large enough for text.
    var isVisible: Bool { content != .none && frame.size.columns > 2 && frame.size.rows > 1 }

    /// Whether the panel is right of the picture. Below the picture it begins in the first column.
    private var isBeside: Bool { frame.origin.column > 0 }

    private mutating func draw(
        _ lines: [PhotoReport.Line], _ theme: Theme, in surface: inout Surface, _ frame: Rect
    ) {
        (count, visible) = (lines.count, frame.size.rows)
        scroll(by: 0)
        for (row, line) in zip(frame.rows, lines[first..<min(count, first + visible)]) {
            let space = Rect(column: frame.origin.column, row: row, columns: frame.size.columns, rows: 1)
            PhotoReport.draw(line, in: &surface, space, theme)
        }
    }

    /// Draws the line between the picture and the panel.
    private func drawRule(_ theme: Theme, in surface: inout Surface, _ rest: inout Rect) {
        if isBeside {
            let rule = rest.takeLeft(1)
            for row in rule.rows {
                surface.write(
                    theme.signs.upright, in: Rect(column: rule.origin.column, row: row, columns: 1, rows: 1),
                    style: theme.detail)
            }
        } else if rest.size.rows >= Self.leastHeight {
            let rule = rest.takeTop(1)
            surface.write(theme.signs.rule(rule.size.columns), in: rule, style: theme.detail)
        }
        _ = rest.takeLeft(1)
        _ = rest.takeRight(1)
    }

    /// Takes space for the histogram: below the facts, or right of them in a low and wide panel.
    private func takeHistogramSpace(_ rest: inout Rect, leaving lines: Int) -> Rect {
        if isBeside {
            return rest.takeBottom(min(HistogramDrawing.mostRows, max(0, rest.size.rows - lines)))
        }
        guard rest.size.columns >= 66 else { return rest.takeRight(0) }
        defer { _ = rest.takeRight(2) }
        return rest.takeRight(min(34, rest.size.columns / 2 - 4))
    }
}
