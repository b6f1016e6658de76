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

    /// Selects an entry, or the nearest there is, and scrolls no farther than it takes to see it.
    mutating func select(_ index: Int) {
        selected = min(max(0, index), max(0, count - 1))
        first = min(max(first, selected - visible + 1), selected)
        first = max(0, min(first, count - visible))
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
