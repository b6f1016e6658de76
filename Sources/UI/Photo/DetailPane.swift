import Cells
import Text

/// Lines below a list about what is selected in it, for what is too long for a row.
@MainActor
struct DetailPane {
    let theme: Theme

    /// Takes room from the bottom, if the list keeps enough, and writes paragraphs into it, the first ones first.
    ///
    /// The room is the same for everything that may be selected, so that the list does not jump.
    func draw(_ paragraphs: [(text: String, style: Style)], lines: Int, in surface: inout Surface, _ rest: inout Rect) {
        guard rest.size.rows >= lines + 5 else { return }
        var pane = rest.takeBottom(lines + 1)
        let rule = pane.takeTop(1)
        surface.write(theme.signs.rule(rule.size.columns), in: rule, style: theme.detail)
        _ = pane.takeLeft(1)
        _ = pane.takeRight(1)
        for paragraph in paragraphs {
            let wrapped = paragraph.text.madeVisible.wrapped(toWidth: pane.size.columns)
            for (number, text) in wrapped.enumerated() {
                guard pane.size.rows > 0 else { return }
                // What there is no more room for is cut where the last line ends.
                let isLast = pane.size.rows == 1 && number < wrapped.count - 1
                surface.write(
                    (isLast ? text + theme.signs.more : text).truncated(toWidth: pane.size.columns),
                    in: pane.takeTop(1),
                    style: paragraph.style)
            }
        }
    }
}
