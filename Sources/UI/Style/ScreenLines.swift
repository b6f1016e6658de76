import Cells
import Commands
import Text

/// The line at the top of every screen, and the one at its bottom.
@MainActor
struct ScreenLines {
    let theme: Theme
    let keys: KeyMap

    func drawHeading(_ heading: Screen.Heading, in surface: inout Surface, _ line: Rect) {
        surface.fill(line, style: theme.titleDetail)
        var rest = line
        _ = rest.takeLeft(1)
        _ = rest.takeRight(1)
        // The name is what one looks for; particulars have what it leaves them.
        let details = [heading.detail, heading.brief].filter { !$0.isEmpty }
        if let detail = details.first(where: { $0.displayWidth + 2 <= rest.size.columns / 2 }) {
            surface.write(detail, in: rest.takeRight(detail.displayWidth), style: theme.titleDetail)
            _ = rest.takeRight(2)
        }
        surface.write(heading.title.truncated(toWidth: rest.size.columns), in: rest, style: theme.title)
    }

    /// Returns where the hints came to stand.
    @discardableResult
    func drawFooting(
        _ footing: Screen.Footing, scopes: [CommandTable.Scope], number: Int? = nil, indicator: [String] = [],
        in surface: inout Surface, _ line: Rect
    ) -> HintPlaces {
        var rest = line
        _ = rest.takeLeft(1)
        _ = rest.takeRight(1)
        if let number = number.map(String.init) {
            // Before the text, since the user is typing it.
            surface.write(number, in: rest.takeRight(number.displayWidth), style: theme.key)
            _ = rest.takeRight(2)
        }
        let hints = footing.hints.compactMap { Hint($0, keys.key(for: $0.command, in: scopes)) }
        let keptHints = hintsKept(footing.kept, of: hints, in: rest)
        let kept = keptHints.reduce(0) { $0 + $1.width }
        var footing = footing
        if footing.text.displayWidth + kept > rest.size.columns { footing.text = footing.brief ?? footing.text }
        let text = footing.text.displayWidth + kept
        // What is said in peace may lose its end to what is going on.
        let least = footing.isTrouble ? text : min(text, Self.leastText + kept)
        let shown =
            fitting(indicator, besides: text, in: rest) ?? fitting(indicator.suffix(1), besides: least, in: rest)
        drawAside(shown, theme.key, in: &surface, &rest)
        // It is short, and leads to all of the reasons: the text loses its end to it.
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

    /// The first of these that leaves the text its room.
    private func fitting(_ choices: some Sequence<String>, besides text: Int, in rest: Rect) -> String? {
        choices.first { $0.displayWidth <= rest.size.columns - text - 2 }
    }

    /// At the right.
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

        /// With the gap before it.
        var width: Int { 2 + key.displayWidth + 1 + word.displayWidth }
    }

    /// Columns that the hints that are kept leave the text.
    private static let leastText = 20

    /// The hints that room is kept for, the last ones first: by the hint at the help all other keys are found.
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

    /// As many hints as fit beside the text, in their order: those that are kept in any case, and of the others the first.
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
        // The hint at the help is where it always is.
        if keptCommands.contains(.help), let help = shown.firstIndex(where: { $0.command == .help }) {
            shown.append(shown.remove(at: help))
        }
        var places = HintPlaces()
        var room = rest.takeRight(min(width, rest.size.columns))
        for hint in shown {
            _ = room.takeLeft(2)
            places.note(room.takingLeft(hint.width - 2), hint.command)
            _ = room.takeLeft(surface.write(hint.key, in: room, style: theme.key))
            _ = room.takeLeft(1)
            _ = room.takeLeft(surface.write(hint.word, in: room, style: theme.detail))
        }
        return places
    }
}

extension Rect {
    /// Its columns at the left.
    fileprivate func takingLeft(_ columns: Int) -> Rect {
        var rest = self
        return rest.takeLeft(columns)
    }
}

/// Where hints were drawn, for a mouse to find them.
struct HintPlaces {
    private var places: [(frame: Rect, command: Command)] = []

    /// Notes where a hint was drawn.
    mutating func note(_ frame: Rect, _ command: Command) { places.append((frame, command)) }

    /// The command that is hinted at at a place of the screen.
    func command(at position: Point) -> Command? {
        places.first { $0.frame.contains(position) }?.command
    }
}

/// What the user is told or asked, in the line at the bottom; and where that is too short, in lines above it too, over what
/// is there.
@MainActor
struct Announcement {
    /// What it consists of; each part is broken only where it is wider than a line.
    let parts: [String]
    /// Whether its end is what there has to be room for: answers.
    var endsWithAnswers = false

    func draw(in surface: inout Surface, _ room: Rect, _ line: Rect, _ theme: Theme) {
        let all = lines(width: line.size.columns - 2)
        let most = room.size.rows + 1
        let lines = endsWithAnswers ? all.suffix(most) : all.prefix(most)
        guard let last = lines.last else { return }
        var rest = room
        var pane = rest.takeBottom(min(lines.count > 1 ? lines.count : 0, room.size.rows))
        surface.fill(pane, style: theme.status)
        if pane.size.rows >= lines.count {
            let rule = pane.takeTop(1)
            surface.write(theme.signs.rule(rule.size.columns), in: rule, style: theme.detail)
        }
        for text in lines.dropLast() { write(text, in: &surface, pane.takeTop(1), theme) }
        write(!endsWithAnswers && lines.count < all.count ? last + theme.signs.more : last, in: &surface, line, theme)
    }

    private func write(_ text: String, in surface: inout Surface, _ line: Rect, _ theme: Theme) {
        var rest = line
        _ = rest.takeLeft(1)
        _ = rest.takeRight(1)
        surface.write(text.truncated(toWidth: rest.size.columns), in: rest, style: theme.status)
    }

    /// As many parts in a line as there is room for.
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

/// A line of several facts, of which those give way that matter least where there is no room for all.
struct FittedLine {
    private struct Part {
        let text: String
        /// Columns that it needs at least.
        let least: Int
        let isOptional: Bool
    }

    private static let separator = " · "
    private var parts: [Part] = []

    /// Adds a fact, if there is one.
    ///
    /// - Parameters:
    ///   - least: columns that it may be cut to; nil if it is of no use when it is cut.
    ///   - isOptional: whether it may be left out. Of several the last goes first.
    mutating func add(_ text: String?, least: Int? = nil, isOptional: Bool = false) {
        guard let text, !text.isEmpty else { return }
        let width = text.displayWidth
        parts.append(Part(text: text, least: min(least ?? width, width), isOptional: isOptional))
    }

    /// The facts that fit: first those are cut that may be, then what is optional is left out.
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
