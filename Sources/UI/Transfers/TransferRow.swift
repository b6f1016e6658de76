import Cells
import Model
import Text

/// Draws the row of one transfer: its name, host and progress.
@MainActor
struct TransferRow {
    let theme: Theme
    /// The number of lines for one transfer. In narrow windows, the progress has its own line.
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
            let frame = rest.takeRight(width)
            surface.write(text.truncated(toWidth: width), in: frame, style: theme.detail)
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

/// Texts about the stage of a transfer.
enum TransferText {
    static func text(_ stage: TransferReport.Stage, now: Timestamp) -> String {
        switch stage {
        case .queued: "queued"
        case .running(let progress, let speed):
            [
                progress.done > 0 ? ByteText.text(progress.done.int64, of: progress.total?.int64) : "requested",
                speed.map { TrafficText.speed($0) },
            ].compactMap { $0 }.joined(separator: "  ")
        case .waiting(let failure, _, let until?):
            "retry at \(DateText.clock(until, now: now)): \(failure)"
        case .waiting(let failure, _, nil): "waiting: \(failure)"
        case .heldBack(let failure, _): "queued: \(failure)"
        }
    }

    /// Returns why a transfer waits, and when Vitrine retries the transfer. Returns nil if the transfer does not wait.
    static func reason(_ stage: TransferReport.Stage, now: Timestamp) -> String? {
        switch stage {
        case .running, .queued: return nil
        case .waiting(let failure, let attempts, let until):
            let again =
                until.map { "retry at \(DateText.clock($0, now: now))" } ?? "will retry when the problem is solved"
            return "\(failure) · \(tried(attempts)), \(again)"
        case .heldBack(let failure, 0): return "\(failure) · not tried yet"
        case .heldBack(let failure, let attempts): return "\(failure) · \(tried(attempts)), queued for a retry"
        }
    }

    private static func tried(_ attempts: Int) -> String { "tried \(CountText.text(attempts, "time"))" }

    /// Returns whether the transfer waits because of a failure.
    static func isTrouble(_ stage: TransferReport.Stage) -> Bool {
        switch stage {
        case .running, .queued: false
        case .waiting, .heldBack: true
        }
    }
}

/// Draws the row of an export, above the transfers.
@MainActor
struct ExportRow {
    let theme: Theme
    /// The number of lines for one export, the same as for a transfer.
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
