import Cells
import Commands

/// Which entry of a list is selected, and which are seen. Scrolling is written here, once, for every list.
struct ListScroll: Equatable {
    /// How many entries the list has.
    private(set) var count = 0
    /// How many fit on the screen.
    private(set) var visible = 1
    /// The selected one; 0 in an empty list.
    private(set) var selected = 0
    /// The first that is seen.
    private(set) var first = 0

    private var isLaidOut = false

    /// The entries that are seen.
    var window: Range<Int> { first..<min(count, first + visible) }

    /// Whether there is anything to select.
    var isEmpty: Bool { count == 0 }

    /// Takes in how many entries there are.
    mutating func setCount(_ count: Int) {
        self.count = max(0, count)
        select(selected)
    }

    /// Takes in how many entries fit. The first time, what is selected comes to stand in the middle.
    mutating func setVisible(_ visible: Int) {
        self.visible = max(1, visible)
        if !isLaidOut { first = selected - (self.visible - 1) / 2 }
        isLaidOut = true
        select(selected)
    }

    /// Takes in how much room there is, in lines, where some entries have a title above them, which is a line, and the first
    /// one that is seen has in any case.
    ///
    /// - Parameter hasTitle: whether an entry has one even if others are seen above it.
    mutating func setVisible(lines: Int, height: Int, hasTitle: (Int) -> Bool) {
        setVisible((lines - 1) / height)
        func room(for index: Int, isFirst: Bool) -> Int { height + (isFirst || hasTitle(index) ? 1 : 0) }
        /// The first entry of as many as fit, down to a last one.
        func firstEntry(downTo last: Int) -> Int {
            var (index, left) = (last, lines - room(for: last, isFirst: true))
            // What is seen above an entry takes the title that it has for being the first.
            while index > 0, left >= room(for: index - 1, isFirst: true) - (hasTitle(index) ? 0 : 1) {
                left -= room(for: index - 1, isFirst: true) - (hasTitle(index) ? 0 : 1)
                index -= 1
            }
            return index
        }
        guard count > 0 else { return }
        first = max(first, firstEntry(downTo: selected))
        first = max(0, min(first, selected, firstEntry(downTo: count - 1)))
        var (end, left) = (first, lines)
        while end < count, left >= room(for: end, isFirst: end == first) {
            left -= room(for: end, isFirst: end == first)
            end += 1
        }
        visible = max(1, end - first)
    }

    /// Selects an entry, or the nearest there is, and scrolls no farther than it takes to see it.
    mutating func select(_ index: Int) {
        selected = min(max(0, index), max(0, count - 1))
        first = min(max(first, selected - visible + 1), selected)
        first = max(0, min(first, count - visible))
    }

    /// Moves what is seen; what is selected goes along as far as it takes to be seen.
    mutating func roll(by amount: Int) {
        first = max(0, min(first + amount, count - visible))
        select(min(max(selected, first), first + visible - 1))
    }

    /// Follows a mouse's wheel, where there is nothing to select. Returns whether it was turned.
    mutating func follow(_ mouse: InputEvent.Mouse) -> Bool {
        switch mouse.action {
        case .wheelUp: roll(by: -3)
        case .wheelDown: roll(by: 3)
        default: return false
        }
        return true
    }

    /// Obeys a command, if it is about moving. Returns whether it was.
    mutating func obey(_ command: Command) -> Bool {
        switch command {
        case .up: select(selected - 1)
        case .down: select(selected + 1)
        case .pageUp: scroll(by: -visible)
        case .pageDown: scroll(by: visible)
        case .halfPageUp: scroll(by: -max(1, visible / 2))
        case .halfPageDown: scroll(by: max(1, visible / 2))
        case .first: select(0)
        case .last: select(count - 1)
        default: return false
        }
        return true
    }

    /// Moves the selection and what is seen by as much.
    private mutating func scroll(by amount: Int) {
        first = max(0, min(first + amount, count - visible))
        select(selected + amount)
    }
}
