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
    /// How many entries a line has at most, and how many lines are seen.
    private var columns = 1
    private var visibleLines = 1
    /// The column that one came from and goes back to, while one goes through lines that have fewer.
    private var column: Int?

    /// The entries that are seen.
    var window: Range<Int> { first..<min(count, first + visible) }

    /// Whether there is anything to select.
    var isEmpty: Bool { count == 0 }

    /// Takes in how many entries there are.
    mutating func setCount(_ count: Int) {
        self.count = max(0, count)
        let column = column
        select(selected)
        self.column = column
    }

    /// Takes in how many entries fit, one below the other. The first time, what is selected comes to stand in the middle.
    mutating func setVisible(_ visible: Int) {
        columns = 1
        self.visible = max(1, visible)
        visibleLines = self.visible
        if !isLaidOut { first = selected - (self.visible - 1) / 2 }
        isLaidOut = true
        select(selected)
    }

    /// Takes in how the entries stand in lines, and how many rows there are for lines of some height, and for their titles.
    mutating func layOut(_ lines: ListLines, rows: Int, height: Int) {
        guard count > 0 else { return setVisible(1) }
        columns = lines.columns
        if !isLaidOut { first = max(0, selected - (rows / height * columns - 1) / 2) }
        isLaidOut = true
        func room(for line: Range<Int>, isFirst: Bool) -> Int {
            height + (lines.hasTitles && (isFirst || lines.beginsSection(line)) ? 1 : 0)
        }
        /// The first line of as many as fit, down to a last one.
        func firstLine(downTo last: Range<Int>) -> Range<Int> {
            var (line, left) = (last, rows - room(for: last, isFirst: true))
            while let before = lines.line(before: line) {
                // What is seen above a line takes the title that it has for being the first.
                let more =
                    room(for: before, isFirst: true) + room(for: line, isFirst: false) - room(for: line, isFirst: true)
                guard left >= more else { break }
                (line, left) = (before, left - more)
            }
            return line
        }
        let line = lines.line(of: selected)
        var top = lines.line(of: min(first, count - 1))
        let lowest = firstLine(downTo: line)
        if lowest.lowerBound > top.lowerBound { top = lowest }
        for highest in [line, firstLine(downTo: lines.line(of: count - 1))] where highest.lowerBound < top.lowerBound {
            top = highest
        }
        first = top.lowerBound
        visibleLines = 1
        var (bottom, left) = (top, rows - room(for: top, isFirst: true))
        while let next = lines.line(after: bottom), left >= room(for: next, isFirst: false) {
            left -= room(for: next, isFirst: false)
            bottom = next
            visibleLines += 1
        }
        visible = bottom.upperBound - first
    }

    /// Lays out anew: what is selected comes to stand in the middle.
    mutating func beginAnew() { isLaidOut = false }

    /// Selects an entry, or the nearest there is, and scrolls no farther than it takes to see it.
    mutating func select(_ index: Int) {
        selected = min(max(0, index), max(0, count - 1))
        column = nil
        // How far whole lines have to be scrolled is known when they are laid out.
        guard columns == 1 else { return first = min(first, selected) }
        first = min(max(first, selected - visible + 1), selected)
        first = max(0, min(first, count - visible))
    }

    /// Moves what is seen; what is selected goes along as far as it takes to be seen.
    mutating func roll(by amount: Int) {
        first = max(0, min(first + amount, count - visible))
        select(min(max(selected, first), first + visible - 1))
    }

    /// The same, by so many lines.
    mutating func roll(by amount: Int, in lines: ListLines) {
        guard columns > 1, count > 0 else { return roll(by: amount) }
        guard amount < 0 || window.upperBound < count else { return }
        roll(to: lines.line(amount, after: lines.line(of: first)), in: lines)
    }

    /// Moves what is seen so that an entry is the first, or in the first line, as far as there is more.
    mutating func roll(to index: Int, in lines: ListLines) {
        guard columns > 1, count > 0 else { return roll(by: index - first) }
        roll(to: lines.line(of: min(max(0, index), count - 1)), in: lines)
    }

    private mutating func roll(to start: Range<Int>, in lines: ListLines) {
        first = start.lowerBound
        let end = lines.line(visibleLines - 1, after: start)
        if selected < start.lowerBound { move(to: start, in: lines) }
        if selected >= end.upperBound { move(to: end, in: lines) }
    }

    /// Follows a mouse where there is nothing to select: its wheel, and what it does with the bar. Returns whether it did
    /// anything.
    mutating func follow(_ mouse: InputEvent.Mouse, _ bar: inout ScrollBar) -> Bool {
        if let first = bar.follow(mouse, self) {
            roll(by: first - self.first)
            return true
        }
        switch mouse.action {
        case .wheelUp: roll(by: -3)
        case .wheelDown: roll(by: 3)
        default: return false
        }
        return true
    }

    /// Obeys a command, if it is about moving. Returns whether it was.
    mutating func perform(_ command: Command) -> Bool {
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

    /// The same where entries stand beside each other.
    mutating func perform(_ command: Command, in lines: ListLines) -> Bool {
        guard count > 0 else { return perform(command) }
        switch command {
        case .left: select(selected - 1)
        case .right: select(selected + 1)
        case .up: move(by: -1, in: lines)
        case .down: move(by: 1, in: lines)
        case .pageUp: scroll(by: -visibleLines, in: lines)
        case .pageDown: scroll(by: visibleLines, in: lines)
        case .halfPageUp: scroll(by: -max(1, visibleLines / 2), in: lines)
        case .halfPageDown: scroll(by: max(1, visibleLines / 2), in: lines)
        default: return perform(command)
        }
        return true
    }

    /// Moves the selection and what is seen by as much.
    private mutating func scroll(by amount: Int) {
        first = max(0, min(first + amount, count - visible))
        select(selected + amount)
    }

    private mutating func scroll(by amount: Int, in lines: ListLines) {
        first = lines.line(amount, after: lines.line(of: first)).lowerBound
        move(by: amount, in: lines)
    }

    private mutating func move(by amount: Int, in lines: ListLines) {
        move(to: lines.line(amount, after: lines.line(of: selected)), in: lines)
    }

    /// Moves the selection to a line, in the column where it is.
    private mutating func move(to line: Range<Int>, in lines: ListLines) {
        let column = column ?? selected - lines.line(of: selected).lowerBound
        select(min(line.lowerBound + column, line.upperBound - 1))
        self.column = column
    }
}

/// Where the entries of a list were drawn, for a mouse to find them.
struct ListPlaces {
    private var places: [(frame: Rect, index: Int)] = []

    /// The list is drawn anew.
    mutating func beginAnew() { places = [] }

    /// Notes where an entry was drawn.
    mutating func note(_ frame: Rect, _ index: Int) { places.append((frame, index)) }

    /// Where an entry was drawn, if it was.
    func frame(of index: Int) -> Rect? {
        places.first { $0.index == index }?.frame
    }

    /// Lines of an entry.
    var height: Int { places.first?.frame.size.rows ?? 1 }

    /// The entry at a place of the screen.
    func index(at position: Point) -> Int? {
        places.first { $0.frame.contains(position) }?.index
    }
}
