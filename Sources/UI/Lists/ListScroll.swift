import Cells
import Commands

/// The state of a scrolled list: selection, visible part, drawn rows and scroll bar.
///
/// All lists share these scrolling rules. A list with several entries in a line, or with section titles, also passes
/// its ``ListLines`` to the methods.
struct ListScroll {
    /// The number of entries.
    private(set) var count = 0
    /// The number of entries that fit on the screen.
    private(set) var visible = 1
    /// The index of the selected entry; 0 in an empty list.
    private(set) var selected = 0
    /// The index of the first visible entry.
    private(set) var first = 0

    private var isLaidOut = false
    /// The number of entries in a full line of the last layout.
    private var columns = 1
    private var visibleLines = 1
    /// The column to return to after the selection has passed shorter lines.
    private var column: Int?
    private var rows: [(frame: Rect, index: Int)] = []
    private var bar = ScrollBar()

    /// The indexes of the visible entries.
    var window: Range<Int> { first..<min(count, first + visible) }

    /// The number of entries in half a page, at least one.
    var halfPage: Int { max(1, visible / 2) }

    /// Whether the list has no entries.
    var isEmpty: Bool { count == 0 }

    // MARK: - Layout

    /// Sets the number of entries, and keeps the selection within them.
    mutating func setCount(_ count: Int) {
        self.count = max(0, count)
        let column = column
        select(selected)
        self.column = column
    }

    /// Sets the number of visible entries, for a list with one entry a line. The first call centres the selection.
    mutating func setVisible(_ visible: Int) {
        columns = 1
        self.visible = max(1, visible)
        visibleLines = self.visible
        if !isLaidOut { first = selected - (self.visible - 1) / 2 }
        isLaidOut = true
        select(selected)
    }

    /// Chooses the lines that fit on the screen with their titles.
    ///
    /// - Parameters:
    ///   - rows: the number of rows on the screen.
    ///   - height: the number of rows of each line, without a title.
    mutating func layOut(_ lines: ListLines, rows: Int, height: Int) {
        guard count > 0 else { return setVisible(1) }
        columns = lines.columns
        if !isLaidOut { first = max(0, selected - (rows / height * columns - 1) / 2) }
        isLaidOut = true
        func space(for line: Range<Int>, isFirst: Bool) -> Int {
            height + (lines.hasTitles && (isFirst || lines.beginsSection(line)) ? 1 : 0)
        }
        /// Returns the first line of the page that ends with the line `last`.
        func firstLine(downTo last: Range<Int>) -> Range<Int> {
            var (line, left) = (last, rows - space(for: last, isFirst: true))
            while let before = lines.line(before: line) {
                // The line below may lose its title, which it has only as the first visible line.
                let more =
                    space(for: before, isFirst: true) + space(for: line, isFirst: false)
                    - space(for: line, isFirst: true)
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
        var (bottom, left) = (top, rows - space(for: top, isFirst: true))
        while let next = lines.line(after: bottom), left >= space(for: next, isFirst: false) {
            left -= space(for: next, isFirst: false)
            bottom = next
            visibleLines += 1
        }
        visible = bottom.upperBound - first
    }

    /// Centres the selection when the list is laid out next.
    mutating func centreSelection() { isLaidOut = false }

    // MARK: - Drawing

    /// Clears the recorded areas of the previous frame's entries.
    mutating func beginDrawing() { rows = [] }

    /// Records where an entry is drawn, for mouse clicks and the cursor.
    mutating func setFrame(_ frame: Rect, of index: Int) { rows.append((frame, index)) }

    /// Returns the area where an entry is drawn, or nil if the entry is not visible.
    func frame(of index: Int) -> Rect? { rows.first { $0.index == index }?.frame }

    /// Draws the scroll bar over the last column of a list. The caller has laid out the list.
    mutating func drawBar(in surface: inout Surface, _ list: Rect, _ theme: Theme) {
        var bar = bar
        bar.draw(self, in: &surface, list, theme)
        self.bar = bar
    }

    /// Whether the list is longer than the screen, so that it has a scroll bar.
    var hasBar: Bool { bar.isShown }

    // MARK: - Selecting and scrolling

    /// Selects the entry at an index, or else the nearest entry. Scrolls just far enough to show the entry.
    mutating func select(_ index: Int) {
        selected = min(max(0, index), max(0, count - 1))
        column = nil
        // Only the layout knows how far to scroll lines of several entries.
        guard columns == 1 else { return first = min(first, selected) }
        first = min(max(first, selected - visible + 1), selected)
        first = max(0, min(first, count - visible))
    }

    /// Scrolls by a number of entries. The selection moves only if scrolling would take the selection off the screen.
    mutating func roll(by amount: Int) {
        first = max(0, min(first + amount, count - visible))
        select(min(max(selected, first), first + visible - 1))
    }

    /// Scrolls by a number of lines.
    mutating func roll(by amount: Int, in lines: ListLines) {
        guard columns > 1, count > 0 else { return roll(by: amount) }
        guard amount < 0 || window.upperBound < count else { return }
        roll(to: lines.line(amount, after: lines.line(of: first)), in: lines)
    }

    /// Scrolls until an entry's line is the first visible line, if the list is long enough.
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

    /// Performs a command that moves the selection. Returns false for other commands.
    mutating func perform(_ command: Command) -> Bool {
        switch command {
        case .up: select(selected - 1)
        case .down: select(selected + 1)
        case .pageUp: scroll(by: -visible)
        case .pageDown: scroll(by: visible)
        case .halfPageUp: scroll(by: -halfPage)
        case .halfPageDown: scroll(by: halfPage)
        case .first: select(0)
        case .last: select(count - 1)
        default: return false
        }
        return true
    }

    /// Performs a command that moves the selection, in a list with several entries a line. Returns false for other
    /// commands.
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

    /// Moves the selection and the visible part by the same number of entries.
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

    /// Moves the selection to another line, and keeps its column.
    private mutating func move(to line: Range<Int>, in lines: ListLines) {
        let column = column ?? selected - lines.line(of: selected).lowerBound
        select(min(line.lowerBound + column, line.upperBound - 1))
        self.column = column
    }

    // MARK: - Mouse

    /// The effect of a mouse event in a list.
    enum MouseAction {
        case scrolled
        case selected
        /// The user clicked the selected entry.
        case opened
    }

    /// Handles the wheel, the scroll bar and clicks on entries. Returns nil if the event had no effect.
    mutating func follow(_ mouse: InputEvent.Mouse, in lines: ListLines) -> MouseAction? {
        if let first = followBar(mouse) {
            roll(to: first, in: lines)
            return .scrolled
        }
        // The wheel moves about three rows; higher entries move one at a time.
        let step = max(1, 3 / max(1, rows.first?.frame.size.rows ?? 1))
        switch mouse.action {
        case .wheelUp: roll(by: -step, in: lines)
        case .wheelDown: roll(by: step, in: lines)
        case .press(1):
            guard let index = rows.first(where: { $0.frame.contains(mouse.position) })?.index else { return nil }
            guard index != selected else { return .opened }
            select(index)
            return .selected
        default: return nil
        }
        return .scrolled
    }

    /// Handles the wheel and the scroll bar in a text without a selection. Returns whether the text scrolled.
    mutating func follow(_ mouse: InputEvent.Mouse) -> Bool {
        if let first = followBar(mouse) {
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

    private mutating func followBar(_ mouse: InputEvent.Mouse) -> Int? {
        var bar = bar
        defer { self.bar = bar }
        return bar.follow(mouse, self)
    }
}

/// Divides the entries of a list into lines. A line holds up to ``columns`` entries. Each section begins
/// a new line.
///
/// Lines are computed on demand from any entry, so the cost does not grow with the list.
struct ListLines {
    /// The number of entries.
    let count: Int
    /// The number of entries in a full line.
    let columns: Int
    /// Whether a title stands above the first line of each section and above the first visible line.
    let hasTitles: Bool
    /// Returns the section that contains an entry, or nil in a list without sections.
    private let section: (Int) -> Range<Int>?

    init(count: Int, columns: Int = 1, hasTitles: Bool = false, section: @escaping (Int) -> Range<Int>? = { _ in nil })
    {
        self.count = count
        self.columns = max(1, columns)
        self.hasTitles = hasTitles
        self.section = section
    }

    /// Returns the indexes of the entries in the line of an existing entry.
    func line(of index: Int) -> Range<Int> {
        let section = section(index) ?? 0..<count
        let start = section.lowerBound + (index - section.lowerBound) / columns * columns
        return start..<max(start + 1, min(start + columns, section.upperBound))
    }

    /// Returns the line after a line, or nil after the last line.
    func line(after line: Range<Int>) -> Range<Int>? {
        line.upperBound < count ? self.line(of: line.upperBound) : nil
    }

    /// Returns the line before a line, or nil before the first line.
    func line(before line: Range<Int>) -> Range<Int>? {
        line.lowerBound > 0 ? self.line(of: line.lowerBound - 1) : nil
    }

    /// Returns the line that is `amount` lines below a line, or above it if the amount is negative. Stops at the list's
    /// ends.
    func line(_ amount: Int, after line: Range<Int>) -> Range<Int> {
        var line = line
        for _ in 0..<abs(amount) {
            guard let next = amount > 0 ? self.line(after: line) : self.line(before: line) else { break }
            line = next
        }
        return line
    }

    /// Returns whether a line is the first of its section.
    func beginsSection(_ line: Range<Int>) -> Bool {
        section(line.lowerBound)?.lowerBound == line.lowerBound
    }
}
