import Cells

/// The scroll bar at the right of a list, which the user can drag with the mouse.
///
/// A list that fits on the screen has no bar.
struct ScrollBar {
    private var frame = Rect(Size(columns: 0, rows: 0))
    /// Whether the user drags the bar with the mouse.
    private var isHeld = false

    /// Whether the list is longer than the screen, so that the bar is visible.
    var isShown: Bool { !frame.size.isEmpty }

    /// Draws the bar over the last column of a list. The caller has laid out the list.
    mutating func draw(_ scroll: ListScroll, in surface: inout Surface, _ list: Rect, _ theme: Theme) {
        var rest = list
        let isNeeded = scroll.window.count < scroll.count && list.size.rows > 1 && !theme.signs.isPlain
        frame = rest.takeRight(isNeeded ? 1 : 0)
        guard isShown else { return }
        let thumb = thumb(scroll)
        for (offset, row) in frame.rows.enumerated() {
            let isThumb = thumb.contains(offset)
            surface.write(
                isThumb ? theme.signs.full : theme.signs.upright,
                in: Rect(column: frame.origin.column, row: row, columns: 1, rows: 1),
                style: isThumb ? theme.barDone : theme.barLeft)
        }
    }

    /// Handles a click or drag on the bar. Returns the index of the entry to scroll to, or nil.
    mutating func follow(_ mouse: InputEvent.Mouse, _ scroll: ListScroll) -> Int? {
        switch mouse.action {
        case .press(1): isHeld = frame.contains(mouse.position)
        case .drag(1): break
        default: isHeld = false
        }
        let length = thumb(scroll).count
        let play = frame.size.rows - length
        guard isHeld, play > 0 else { return nil }
        let offset = min(max(0, mouse.position.row - frame.origin.row - length / 2), play)
        return (offset * hidden(scroll) + play / 2) / play
    }

    /// Returns the rows of the bar's thumb. The thumb touches an end of the bar only if the list is scrolled to that
    /// end.
    private func thumb(_ scroll: ListScroll) -> Range<Int> {
        let rows = frame.size.rows
        guard rows > 1, hidden(scroll) > 0 else { return 0..<0 }
        let length = max(1, min(rows - 1, rows * scroll.window.count / scroll.count))
        let play = rows - length
        var start = (scroll.first * play + hidden(scroll) / 2) / hidden(scroll)
        if play > 1, scroll.first > 0 { start = max(1, start) }
        if play > 1, scroll.first < hidden(scroll) { start = min(play - 1, start) }
        return start..<start + length
    }

    /// Returns the number of entries that do not fit on the screen.
    private func hidden(_ scroll: ListScroll) -> Int { max(0, scroll.count - scroll.window.count) }
}

/// A progress bar, or a percentage as text in plain mode.
enum ProgressBar {
    static func draw(_ fraction: Double, in surface: inout Surface, _ frame: Rect, _ theme: Theme) {
        let fraction = min(1, max(0, fraction))
        guard !theme.signs.isPlain else {
            surface.write(text(fraction), in: frame, style: theme.detail)
            return
        }
        let done = Int((Double(frame.size.columns) * fraction).rounded())
        var rest = frame
        surface.write(
            String(repeating: theme.signs.barDone, count: done), in: rest.takeLeft(done), style: theme.barDone)
        surface.write(String(repeating: theme.signs.barLeft, count: rest.size.columns), in: rest, style: theme.barLeft)
    }

    /// Returns a text such as `45 percent`, which fits into ten columns.
    private static func text(_ fraction: Double) -> String {
        let percent = Int((fraction * 100).rounded(.down))
        return percent == 100 ? "complete" : "\(percent) percent"
    }
}

/// A line of small bars that shows a series of numbers.
enum Sparkline {
    /// Returns bars for the last numbers, scaled to the highest number. Zero becomes a space.
    static func text(_ numbers: [Int64], columns: Int, _ signs: Signs) -> String {
        let bars = signs.heights
        let numbers = numbers.suffix(max(0, columns))
        let highest = max(1, numbers.max() ?? 1)
        return String(
            numbers.map { number in
                guard number > 0 else { return " " }
                return bars[min(bars.count - 1, Int(Double(number) / Double(highest) * Double(bars.count)))]
            })
    }
}
