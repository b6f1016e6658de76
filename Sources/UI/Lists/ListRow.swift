import Cells

/// What the rows of all plain lists have in common: a margin, and the mark beside the one that is selected.
@MainActor
enum ListRow {
    /// Draws the mark. Returns where the row's text goes.
    static func begin(_ frame: Rect, isSelected: Bool, _ theme: Theme, in surface: inout Surface) -> Rect {
        var rest = frame
        _ = rest.takeLeft(1)
        let mark = rest.takeLeft(2)
        if isSelected {
            for row in theme.signs.markedRows(mark.rows) {
                let place = Rect(column: mark.origin.column, row: row, columns: 1, rows: 1)
                surface.write(theme.signs.mark, in: place, style: theme.mark)
            }
        }
        _ = rest.takeRight(1)
        return rest
    }
}
