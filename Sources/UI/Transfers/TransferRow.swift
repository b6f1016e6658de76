import Cells
import Model
import Text

/// Draws one transfer of the list: what it is, where it comes from, and how far it has come.
@MainActor
struct TransferRow {
    let theme: Theme
    /// With little room, how far it has come has a line of its own.
    let height: Int
    private let columns: Int

    init(columns: Int, theme: Theme) {
        self.columns = columns
        self.theme = theme
        height = columns < 70 ? 2 : 1
    }

    func draw(
        _ transfer: TransferReport, _ name: SubjectName, isSelected: Bool, now: Timestamp, in surface: inout Surface,
        frame: Rect
    ) {
        var rest = ListRow.begin(frame, isSelected: isSelected, theme, in: &surface)
        guard height == 1 else {
            drawName(transfer, name, isSelected, in: &surface, rest.takeTop(1))
            return drawStage(transfer.stage, now, in: &surface, rest)
        }
        drawStage(transfer.stage, now, in: &surface, rest.takeRight(columns < 110 ? 40 : 48))
        _ = rest.takeRight(2)
        drawName(transfer, name, isSelected, in: &surface, rest)
    }

    private func drawName(
        _ transfer: TransferReport, _ name: SubjectName, _ isSelected: Bool, in surface: inout Surface, _ line: Rect
    ) {
        var rest = line
        func column(_ text: String, _ width: Int) {
            let place = rest.takeRight(width)
            surface.write(text.truncated(toWidth: width), in: place, style: theme.detail)
            _ = rest.takeRight(2)
        }
        if columns >= 150 { column(name.gallery, 34) }
        if columns >= 110 { column(transfer.host, 22) }
        if columns >= 36 { column(name.kind, 9) }
        surface.write(
            name.name.truncated(toWidth: rest.size.columns), in: rest,
            style: isSelected ? theme.selectedName : theme.name)
    }

    private func drawStage(
        _ stage: TransferReport.Stage, _ now: Timestamp, in surface: inout Surface, _ line: Rect
    ) {
        var rest = line
        if case .running(let progress, _) = stage, let fraction = progress.fraction {
            ProgressBar.draw(fraction, in: &surface, rest.takeLeft(min(10, rest.size.columns / 3)), theme)
            _ = rest.takeLeft(1)
        }
        surface.write(
            TransferText.text(stage, now: now).truncated(toWidth: rest.size.columns), in: rest,
            style: TransferText.isTrouble(stage) ? theme.trouble : theme.detail)
    }
}
