import Cells
import Commands
import Text

/// Draws the top and bottom line of a screen.
@MainActor
struct ScreenLines {
    let theme: Theme
    let keys: KeyMap

    func drawHeading(_ heading: Screen.Heading, in surface: inout Surface, _ line: Rect) {
        surface.fill(line, style: theme.titleDetail)
        var rest = line
        rest.trimSides()
        // The title comes first; details get at most half of the line.
        if let detail = details(of: heading, width: rest.size.columns / 2 - 2) {
            surface.write(detail, in: rest.takeRight(detail.displayWidth), style: theme.titleDetail)
            _ = rest.takeRight(2)
        }
        let titles = [heading.title] + heading.shorterTitles
        let title = titles.first { $0.displayWidth <= rest.size.columns } ?? titles[titles.count - 1]
        surface.write(title.truncated(toWidth: rest.size.columns), in: rest, style: theme.title)
    }

    /// Returns the longest details of a heading that fit a width. An active filter stays visible.
    private func details(of heading: Screen.Heading, width: Int) -> String? {
        var choices = [heading.detail, heading.brief]
        if let filter = heading.filter {
            let ending = heading.brief.isEmpty ? "" : " \(heading.brief)"
            let room = width - 2
            let cut = filter.truncated(toWidth: room - ending.displayWidth)
            choices = [
                "“\(filter)”  \(heading.detail)",
                cut.isEmpty ? "“\(filter.truncated(toWidth: room))”" : "“\(cut)”\(ending)",
            ]
        }
        return choices.first { !$0.isEmpty && $0.displayWidth <= width }
    }

    /// Draws the bottom line. Returns the positions of the hints for the mouse.
    @discardableResult
    func drawFooting(
        _ footing: Screen.Footing, scopes: [CommandTable.Scope], number: Int? = nil, indicator: [String] = [],
        in surface: inout Surface, _ line: Rect
    ) -> HintPlaces {
        var rest = line
        rest.trimSides()
        if let number = number.map(String.init) {
            // The user is typing the number, so it takes precedence over the text.
            surface.write(number, in: rest.takeRight(number.displayWidth), style: theme.key)
            _ = rest.takeRight(2)
        }
        let hints = footing.hints.compactMap { Hint($0, keys.key(for: $0.command, in: scopes)) }
        let keptHints = hintsKept(footing.kept, of: hints, in: rest)
        let kept = keptHints.reduce(0) { $0 + $1.width }
        var footing = footing
        if footing.text.displayWidth + kept > rest.size.columns { footing.text = footing.brief ?? footing.text }
        let text = footing.text.displayWidth + kept
        // The indicator may cut the end of a text that reports no error.
        let least = footing.isTrouble ? text : min(text, Self.leastText + kept)
        let shown =
            fitting(indicator, besides: text, in: rest) ?? fitting(indicator.suffix(1), besides: least, in: rest)
        drawAside(shown, theme.key, in: &surface, &rest)
        // The badge is short and leads to all errors, so it may cut the text.
        let badge = fitting([footing.badge].compactMap { $0 }, besides: min(text, Self.leastText + kept), in: rest)
        drawAside(badge, theme.trouble, in: &surface, &rest)
        let places = drawHints(hints, besides: footing.text, keeping: keptHints, in: &surface, &rest)
        if let fraction = footing.fraction, rest.size.columns > footing.text.displayWidth + 12 {
            ProgressBar.draw(fraction, in: &surface, rest.takeRight(10), theme)
            _ = rest.takeRight(2)
        }
        surface.write(
            footing.text.truncated(toWidth: rest.size.columns), in: rest,
            style: footing.isTrouble ? theme.trouble : theme.status)
        return places
    }

    /// Returns the first choice that fits beside a text of this width.
    private func fitting(_ choices: some Sequence<String>, besides text: Int, in rest: Rect) -> String? {
        choices.first { $0.displayWidth <= rest.size.columns - text - 2 }
    }

    /// Draws a text at the right end of the line.
    private func drawAside(_ text: String?, _ style: Style, in surface: inout Surface, _ rest: inout Rect) {
        guard let text else { return }
        surface.write(text, in: rest.takeRight(text.displayWidth), style: style)
        _ = rest.takeRight(2)
    }

    // MARK: - Hints

    private struct Hint {
        let command: Command
        let key: String
        let word: String

        init?(_ hint: (command: Command, word: String), _ key: Key?) {
            guard let key else { return nil }
            (command, word) = hint
            self.key = key.description
        }

        /// The width of the hint, with the gap before it.
        var width: Int { 2 + key.displayWidth + 1 + word.displayWidth }
    }

    /// The least number of columns that remain for the status text.
    private static let leastText = 20

    /// Returns the hints to keep beside a long text. The last hint has precedence, because it leads to the help with
    /// all keys.
    private func hintsKept(_ commands: Set<Command>, of hints: [Hint], in rest: Rect) -> [Hint] {
        var width = 0
        return hints.reversed().filter { hint in
            guard commands.contains(hint.command), rest.size.columns - width - hint.width >= Self.leastText else {
                return false
            }
            width += hint.width
            return true
        }
    }

    /// Draws the kept hints, and as many others as fit beside the text.
    private func drawHints(
        _ hints: [Hint], besides text: String, keeping kept: [Hint], in surface: inout Surface, _ rest: inout Rect
    ) -> HintPlaces {
        var width = kept.reduce(0) { $0 + $1.width }
        var isFull = false
        let keptCommands = Set(kept.map(\.command))
        var shown = hints.filter { hint in
            if keptCommands.contains(hint.command) { return true }
            isFull = isFull || text.displayWidth + width + hint.width + 1 > rest.size.columns
            guard !isFull else { return false }
            width += hint.width
            return true
        }
        // The hint for help is always the last one.
        if keptCommands.contains(.help), let help = shown.firstIndex(where: { $0.command == .help }) {
            shown.append(shown.remove(at: help))
        }
        var places = HintPlaces()
        var area = rest.takeRight(min(width, rest.size.columns))
        for hint in shown {
            _ = area.takeLeft(2)
            places.add(area.takingLeft(hint.width - 2), hint.command)
            _ = area.takeLeft(surface.write(hint.key, in: area, style: theme.key))
            _ = area.takeLeft(1)
            _ = area.takeLeft(surface.write(hint.word, in: area, style: theme.detail))
        }
        return places
    }
}

extension Rect {
    /// Removes the margins: one column at the left and one at the right.
    mutating func trimSides() {
        _ = takeLeft(1)
        _ = takeRight(1)
    }

    /// Returns the leftmost columns of the area.
    fileprivate func takingLeft(_ columns: Int) -> Rect {
        var rest = self
        return rest.takeLeft(columns)
    }
}

/// The positions of the hints on the screen, for mouse clicks.
struct HintPlaces {
    private var places: [(frame: Rect, command: Command)] = []

    /// Adds the area of a hint.
    mutating func add(_ frame: Rect, _ command: Command) { places.append((frame, command)) }

    /// Returns the command of the hint at a position, or nil.
    func command(at position: Point) -> Command? {
        places.first { $0.frame.contains(position) }?.command
    }
}

/// A notice or question in the bottom line. A long text also covers lines above.
@MainActor
struct Announcement {
    /// The parts of the text. A part is broken only if it is wider than a line.
    let parts: [String]
    /// Whether the text ends with the possible answers. If so, a text that is too long loses its start, not its end.
    var endsWithAnswers = false

    func draw(in surface: inout Surface, _ area: Rect, _ line: Rect, _ theme: Theme) {
        let all = lines(width: line.size.columns - 2)
        let most = area.size.rows + 1
        let lines = endsWithAnswers ? all.suffix(most) : all.prefix(most)
        guard let last = lines.last else { return }
        var rest = area
        var pane = rest.takeBottom(min(lines.count > 1 ? lines.count : 0, area.size.rows))
        surface.fill(pane, style: theme.status)
        if pane.size.rows >= lines.count { theme.drawRule(in: &surface, &pane) }
        for text in lines.dropLast() { write(text, in: &surface, pane.takeTop(1), theme) }
        write(!endsWithAnswers && lines.count < all.count ? last + theme.signs.more : last, in: &surface, line, theme)
    }

    private func write(_ text: String, in surface: inout Surface, _ line: Rect, _ theme: Theme) {
        var rest = line
        rest.trimSides()
        surface.write(text.truncated(toWidth: rest.size.columns), in: rest, style: theme.status)
    }

    /// Returns the text in lines, each with as many parts as fit.
    private func lines(width: Int) -> [String] {
        parts.reduce(into: [String]()) { lines, part in
            if let last = lines.last, last.displayWidth + 2 + part.displayWidth <= width {
                lines[lines.count - 1] = "\(last)  \(part)"
            } else {
                lines += part.displayWidth <= width ? [part] : part.folded(toWidth: width)
            }
        }
    }
}

/// A line of facts. If the line is narrow, less important facts are cut or left out.
struct FittedLine {
    private struct Part {
        let text: String
        /// The width to which the fact may be cut.
        let least: Int
        let isOptional: Bool
    }

    private static let separator = " · "
    private var parts: [Part] = []

    /// Adds a fact to the line, unless the fact is nil or empty.
    ///
    /// - Parameters:
    ///   - least: the width to which the fact may be cut; nil if it may not be cut.
    ///   - isOptional: whether the fact may be left out. The last optional fact is left out first.
    mutating func add(_ text: String?, least: Int? = nil, isOptional: Bool = false) {
        guard let text, !text.isEmpty else { return }
        let width = text.displayWidth
        parts.append(Part(text: text, least: min(least ?? width, width), isOptional: isOptional))
    }

    /// Returns the text of the line for a width.
    func text(width: Int) -> String {
        var parts = parts
        while Self.width(of: parts.map(\.least)) > width, let last = parts.lastIndex(where: \.isOptional) {
            parts.remove(at: last)
        }
        var excess = Self.width(of: parts.map(\.text.displayWidth)) - width
        let texts = parts.map { part in
            let cut = min(max(0, excess), part.text.displayWidth - part.least)
            excess -= cut
            return cut > 0 ? part.text.truncated(toWidth: part.text.displayWidth - cut) : part.text
        }
        return texts.joined(separator: Self.separator).truncated(toWidth: width)
    }

    private static func width(of widths: [Int]) -> Int {
        widths.reduce(0, +) + max(0, widths.count - 1) * separator.displayWidth
    }
}
