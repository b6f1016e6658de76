import Cells
import Commands
import Text

/// A screen with a list: the wheel scrolls it, and so does the bar beside it; a click selects, and a click on what is selected
/// opens that.
@MainActor
protocol ListScreen: Screen {
    var scroll: ListScroll { get set }
    var places: ListPlaces { get }
    var bar: ScrollBar { get set }
    /// How the entries stand in lines.
    var lines: ListLines { get }
    /// What is selected is at another place of the list now.
    func selectionDidMove()
}

extension ListScreen {
    /// One below the other.
    var lines: ListLines { ListLines(count: scroll.count) }

    /// Selects the entry at a place. Returns whether there are any.
    func select(index: Int) -> Bool {
        guard !scroll.isEmpty else { return false }
        scroll.select(index)
        selectionDidMove()
        return true
    }

    /// Does what a mouse does in a list. Returns whether it did anything.
    func followInList(_ mouse: InputEvent.Mouse) -> Bool {
        if let first = bar.follow(mouse, scroll) {
            scroll.roll(to: first, in: lines)
            selectionDidMove()
            return true
        }
        switch mouse.action {
        case .wheelUp: scroll.roll(by: -wheelStep, in: lines)
        case .wheelDown: scroll.roll(by: wheelStep, in: lines)
        case .press(1):
            guard let index = places.index(at: mouse.position) else { return false }
            guard index != scroll.selected else {
                send(.command(.open))
                return true
            }
            scroll.select(index)
        default: return false
        }
        selectionDidMove()
        return true
    }

    /// About three lines; of entries that are higher than that, one.
    private var wheelStep: Int { max(1, 3 / max(1, places.height)) }
}

/// What the rows of all plain lists have in common: a margin, and the mark beside the one that is selected.
@MainActor
enum ListRow {
    /// Draws the mark. Returns where the row's text goes.
    static func begin(_ frame: Rect, isSelected: Bool, _ theme: Theme, in surface: inout Surface) -> Rect {
        var rest = frame
        _ = rest.takeLeft(1)
        let mark = rest.takeLeft(2)
        if isSelected {
            for row in theme.signs.markedRows(mark.rows) {
                let place = Rect(column: mark.origin.column, row: row, columns: 1, rows: 1)
                surface.write(theme.signs.mark, in: place, style: theme.mark)
            }
        }
        _ = rest.takeRight(1)
        return rest
    }
}

/// Lines below a list about what is selected in it, for what is too long for a row.
@MainActor
struct DetailPane {
    let theme: Theme

    /// Takes room from the bottom, if the list keeps enough, and writes paragraphs into it, the first ones first.
    ///
    /// The room is the same for everything that may be selected, so that the list does not jump.
    func draw(_ paragraphs: [(text: String, style: Style)], lines: Int, in surface: inout Surface, _ rest: inout Rect) {
        guard rest.size.rows >= lines + 5 else { return }
        var pane = rest.takeBottom(lines + 1)
        let rule = pane.takeTop(1)
        surface.write(theme.signs.rule(rule.size.columns), in: rule, style: theme.detail)
        _ = pane.takeLeft(1)
        _ = pane.takeRight(1)
        for paragraph in paragraphs {
            let wrapped = paragraph.text.madeVisible.wrapped(toWidth: pane.size.columns)
            for (number, text) in wrapped.enumerated() {
                guard pane.size.rows > 0 else { return }
                // What there is no more room for is cut where the last line ends.
                let isLast = pane.size.rows == 1 && number < wrapped.count - 1
                surface.write(
                    (isLast ? text + theme.signs.more : text).truncated(toWidth: pane.size.columns),
                    in: pane.takeTop(1),
                    style: paragraph.style)
            }
        }
    }
}
