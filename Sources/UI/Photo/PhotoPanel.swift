import Cells
import Commands
import Model
import Pictures
import Text

/// The information panel beside or below a photo: its contents, scrolling and drawing.
struct PhotoPanel {
    enum Content {
        case none
        /// The main facts and the histogram.
        case facts
        /// The main facts and all metadata.
        case everything
    }

    private(set) var content = Content.none
    /// The area of the panel in the last frame, for the mouse and the cursor.
    private(set) var frame = Rect(Size(columns: 0, rows: 0))
    /// The index of the first visible line.
    private var first = 0
    private var count = 0
    private var visible = 0

    /// The least width of the window for a panel beside the picture.
    private static let leastWidth = 100
    /// The least height of the panel for a line between picture and panel.
    private static let leastHeight = 4

    /// Scrolls to the first line, because another photo is shown.
    mutating func scrollToTop() { first = 0 }

    // MARK: - Commands

    /// Performs a command of the panel. Returns false if the panel has no such command.
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

    /// Scrolls to a line. Returns false if the panel does not show all metadata.
    mutating func goTo(line: Int) -> Bool {
        guard content == .everything else { return false }
        scroll(by: line - first)
        return true
    }

    /// Handles a mouse event. Returns whether the wheel scrolled the panel.
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

    /// Takes the panel's space from the picture's space: on the right of a wide window, otherwise at the bottom.
    mutating func takeSpace(_ rest: inout Rect) {
        frame = space(&rest)
    }

    /// Takes the whole space in plain mode. In plain mode, the panel shows at least the main facts.
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

    /// Draws the photo's report, and the histogram if Vitrine has examined the file.
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

    /// Whether the panel is to the right of the picture and not below the picture.
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
            theme.drawUprightRule(in: &surface, rest.takeLeft(1))
        } else if rest.size.rows >= Self.leastHeight {
            theme.drawRule(in: &surface, &rest)
        }
        rest.trimSides()
    }

    /// Takes the space of the histogram: below the facts, or to their right in a low and wide panel.
    private func takeHistogramSpace(_ rest: inout Rect, leaving lines: Int) -> Rect {
        if isBeside {
            return rest.takeBottom(min(HistogramDrawing.mostRows, max(0, rest.size.rows - lines)))
        }
        guard rest.size.columns >= 66 else { return rest.takeRight(0) }
        defer { _ = rest.takeRight(2) }
        return rest.takeRight(min(34, rest.size.columns / 2 - 4))
    }
}
