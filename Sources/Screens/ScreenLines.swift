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

    func drawFooting(
        _ footing: Screen.Footing, scopes: [CommandTable.Scope], number: Int? = nil, indicator: [String] = [],
        in surface: inout Surface, _ line: Rect
    ) {
        var rest = line
        _ = rest.takeLeft(1)
        _ = rest.takeRight(1)
        if let number = number.map(String.init) {
            // Before the text, since the user is typing it.
            surface.write(number, in: rest.takeRight(number.displayWidth), style: theme.key)
            _ = rest.takeRight(2)
        }
        drawAside(indicator, theme.key, besides: footing.text, in: &surface, &rest)
        drawAside([footing.badge].compactMap { $0 }, theme.trouble, besides: footing.text, in: &surface, &rest)
        drawHints(footing, scopes, in: &surface, &rest)
        if let fraction = footing.fraction, rest.size.columns > footing.text.displayWidth + 12 {
            ProgressBar.draw(fraction, in: &surface, rest.takeRight(10), theme)
            _ = rest.takeRight(2)
        }
        surface.write(
            footing.text.truncated(toWidth: rest.size.columns), in: rest,
            style: footing.isTrouble ? theme.trouble : theme.status)
    }

    /// At the right, the first of these that leaves the text its room.
    private func drawAside(
        _ choices: [String], _ style: Style, besides text: String, in surface: inout Surface, _ rest: inout Rect
    ) {
        let room = rest.size.columns - text.displayWidth - 2
        guard let choice = choices.first(where: { $0.displayWidth <= room }) else { return }
        surface.write(choice, in: rest.takeRight(choice.displayWidth), style: style)
        _ = rest.takeRight(2)
    }

    /// As many hints as fit beside the text, the first ones first.
    private func drawHints(
        _ footing: Screen.Footing, _ scopes: [CommandTable.Scope], in surface: inout Surface, _ rest: inout Rect
    ) {
        var hints: [(key: String, word: String)] = []
        var width = 0
        for hint in footing.hints {
            guard let key = keys.key(for: hint.command, in: scopes)?.description else { continue }
            let more = key.displayWidth + 1 + hint.word.displayWidth + 2
            guard footing.text.displayWidth + width + more + 1 <= rest.size.columns else { break }
            hints.append((key, hint.word))
            width += more
        }
        var room = rest.takeRight(width)
        for hint in hints {
            _ = room.takeLeft(2)
            _ = room.takeLeft(surface.write(hint.key, in: room, style: theme.key))
            _ = room.takeLeft(1)
            _ = room.takeLeft(surface.write(hint.word, in: room, style: theme.detail))
        }
    }
}
