import Cells
import Commands
import Text

/// The part of a photo's screen that says something of it: whether there is one, where, and what of it is seen.
struct PhotoPanel {
    /// What it says.
    enum Content {
        case none
        /// What most photos say, and how their tones are spread.
        case facts
        /// Everything that this one says.
        case everything
    }

    private(set) var content = Content.none
    /// The first line that is seen.
    private(set) var first = 0
    /// How many there are, and how many fit.
    private var count = 0
    private var visible = 0

    /// With fewer columns it stands below the picture.
    private static let leastWidth = 100

    /// Another photo is looked at.
    mutating func beginAnew() { first = 0 }

    /// Something is said, if nothing was.
    mutating func open() {
        if content == .none { content = .facts }
    }

    /// Obeys a command, if it is about the panel. Returns whether it was.
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

    /// Shows all from a line on, if it says everything. Returns whether it does.
    mutating func goTo(line: Int) -> Bool {
        guard content == .everything else { return false }
        scroll(by: line - first)
        return true
    }

    /// Moves what is seen, as far as there is more.
    mutating func scroll(by lines: Int) {
        first = max(0, min(first + lines, count - visible))
    }

    /// Takes in how many lines there are, and how many fit. Returns those that are seen.
    mutating func layOut(count: Int, visible: Int) -> Range<Int> {
        (self.count, self.visible) = (count, visible)
        scroll(by: 0)
        return first..<min(count, first + visible)
    }

    /// Takes its room from the picture's: at the right of a wide screen, else at the bottom.
    func takeRoom(_ rest: inout Rect) -> Rect {
        guard content != .none else { return Rect(Size(columns: 0, rows: 0)) }
        if rest.size.columns >= Self.leastWidth { return rest.takeRight(max(42, min(52, rest.size.columns / 3))) }
        // In a window that is hardly higher than that, what was asked for goes before what was there.
        let half = max(rest.size.rows / 2, min(Self.leastHeight, rest.size.rows - 1))
        return rest.takeBottom(min(content == .facts ? 11 : 14, half))
    }

    /// With fewer rows nothing stands between it and the picture.
    static let leastHeight = 4

    /// Whether it stands at the right: below the picture it begins where that does.
    static func isBeside(_ frame: Rect) -> Bool { frame.origin.column > 0 }
}
