import Cells
import Commands

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
