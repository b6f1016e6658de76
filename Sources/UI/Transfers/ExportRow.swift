import Cells
import Text

/// Draws photos that are being saved, above the transfers that it takes.
@MainActor
struct ExportRow {
    let theme: Theme
    /// As high as a transfer's.
    let height: Int

    func draw(_ job: ExportJob, isSelected: Bool, in surface: inout Surface, frame: Rect) {
        var rest = ListRow.begin(frame, isSelected: isSelected, theme, in: &surface)
        if height == 1 {
            drawProgress(job, in: &surface, rest.takeRight(min(40, rest.size.columns / 2)))
            _ = rest.takeRight(2)
            drawName(job, isSelected, in: &surface, rest)
        } else {
            drawName(job, isSelected, in: &surface, rest.takeTop(1))
            drawProgress(job, in: &surface, rest)
        }
    }

    private func drawName(_ job: ExportJob, _ isSelected: Bool, in surface: inout Surface, _ line: Rect) {
        surface.write(
            "Saving \(job.name)".truncated(toWidth: line.size.columns), in: line,
            style: isSelected ? theme.selectedName : theme.name)
    }

    private func drawProgress(_ job: ExportJob, in surface: inout Surface, _ line: Rect) {
        var rest = line
        ProgressBar.draw(job.fraction, in: &surface, rest.takeLeft(min(10, rest.size.columns / 3)), theme)
        _ = rest.takeLeft(1)
        surface.write(job.progress.truncated(toWidth: rest.size.columns), in: rest, style: theme.detail)
    }
}
