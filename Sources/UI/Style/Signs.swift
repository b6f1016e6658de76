/// The signs that screens are drawn with beside letters and digits: rules, marks and bars.
///
/// Where there is ASCII alone the terminal has something for each; but bars are drawn with other signs then, because theirs
/// would all become the same.
struct Signs: Equatable {
    /// Whether nothing is drawn that a voice would have to read as a drawing: what bars show is said in words.
    let isPlain: Bool
    /// A line from side to side, and one from top to bottom.
    let rule: String
    let upright: String
    /// Beside what is selected.
    let mark: String
    /// What is done of a bar, and what is left of it.
    let barDone: String
    let barLeft: String
    /// What of a list is seen, beside it.
    let full = "█"
    /// From nearly nothing to all of a cell; or, in ASCII, to as much ink as there is.
    let heights: [Character]
    /// Of thumbnails: not here yet, put off, bad.
    let awaited = "…"
    let putOff = "~"
    let bad = "×"
    /// Of switches: on, off.
    let on: String
    let off: String
    /// There is more than fits, at the end of a line.
    let more = " …"

    /// - Parameters:
    ///   - hasUnicode: whether there is more than ASCII.
    ///   - isPlain: whether the user wants plain text.
    init(hasUnicode: Bool = true, isPlain: Bool = false) {
        self.isPlain = isPlain
        (rule, upright) = isPlain ? (" ", " ") : ("─", "│")
        mark = isPlain ? ">" : "▌"
        (barDone, barLeft) = ("━", "─")
        heights = hasUnicode ? ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"] : ["_", ".", "-", "=", "+", "*", "#"]
        (on, off) = isPlain ? ("+", "-") : ("✓", "·")
    }

    /// Those rows of an entry that have the mark beside them: once is enough where it is read out.
    func markedRows(_ rows: Range<Int>) -> Range<Int> { isPlain ? rows.prefix(1) : rows }

    /// A rule of that many columns.
    func rule(_ columns: Int) -> String { String(repeating: rule, count: max(0, columns)) }
}
