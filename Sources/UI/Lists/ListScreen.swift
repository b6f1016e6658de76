import Cells
import Commands
import Text

/// A screen with a list. The mouse can scroll the list, and select and open its entries.
@MainActor
protocol ListScreen: Screen {
    /// The state of the list. The screen draws the list, and this protocol scrolls it.
    var scroll: ListScroll { get set }
    /// The division of the entries into lines.
    var lines: ListLines { get }
    /// Called after the list's selection has moved, so that the screen can update its own selection.
    func selectionDidMove()
}

extension ListScreen {
    /// One entry in each line, without sections.
    var lines: ListLines { ListLines(count: scroll.count) }

    /// Selects the entry at an index. Returns false if the list is empty.
    func select(index: Int) -> Bool {
        guard !scroll.isEmpty else { return false }
        scroll.select(index)
        selectionDidMove()
        return true
    }

    /// Handles a mouse event; a click on the selected entry opens the entry. Returns whether the event had an effect.
    func followInList(_ mouse: InputEvent.Mouse) -> Bool {
        let lines = lines
        switch scroll.follow(mouse, in: lines) {
        case .scrolled, .selected: selectionDidMove()
        case .opened: send(.command(.open))
        case nil: return false
        }
        return true
    }
}

/// Draws the margin and the selection mark of rows without pictures.
@MainActor
enum ListRow {
    /// Draws the margin and the selection mark. Returns the space for the row's text.
    static func begin(_ frame: Rect, isSelected: Bool, _ theme: Theme, in surface: inout Surface) -> Rect {
        var rest = frame
        _ = rest.takeLeft(1)
        let mark = rest.takeLeft(2)
        if isSelected { theme.drawMark(in: &surface, mark) }
        _ = rest.takeRight(1)
        return rest
    }
}

/// The text below a list that shows details of the selected entry.
@MainActor
struct DetailPane {
    let theme: Theme

    /// Draws paragraphs at the bottom, if enough space remains for the list.
    ///
    /// The height does not depend on the selected entry, so the list does not jump.
    func draw(_ paragraphs: [(text: String, style: Style)], lines: Int, in surface: inout Surface, _ rest: inout Rect) {
        guard rest.size.rows >= lines + 5 else { return }
        var pane = rest.takeBottom(lines + 1)
        theme.drawRule(in: &surface, &pane)
        pane.trimSides()
        for paragraph in paragraphs {
            let wrapped = paragraph.text.madeVisible.wrapped(toWidth: pane.size.columns)
            for (number, text) in wrapped.enumerated() {
                guard pane.size.rows > 0 else { return }
                let isCut = pane.size.rows == 1 && number < wrapped.count - 1
                surface.write(
                    (isCut ? text + theme.signs.more : text).truncated(toWidth: pane.size.columns),
                    in: pane.takeTop(1),
                    style: paragraph.style)
            }
        }
    }
}
