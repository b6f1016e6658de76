import Cells
import Text

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
