import Cache
import Cells
import Commands
import Model
import Session
import Text

/// The screen of running and queued transfers, with the state of the network.
///
/// While this screen is on top, the network controller reports individual transfers, not only totals. The screens below
/// keep their requests, because their requests cause the transfers.
@MainActor
final class TransfersScreen: Screen, ListScreen {
    private var report = TrafficReport()
    /// The entries on the screen: first the exports, then the transfers.
    private var entries: [TransferEntry] = []
    /// The scrolling state. Not private because ``ListScreen`` changes this state.
    var scroll = ListScroll()
    /// Identifies the selected entry. The selection stays on this entry when the entry's index changes.
    private var selection: TransferEntry.Identity?
    private var watch: TrafficWatch?

    override init(_ context: ScreenContext) {
        super.init(context)
        adopt()
    }

    // MARK: - Lines

    override var leavesWishes: Bool { true }
    override var scopes: [CommandTable.Scope] { [.transfers, .lists, .everywhere] }

    override var heading: Heading {
        let counts = "\(report.running) running, \(report.queued) queued"
        return Heading(
            title: context.wishes.isPaused ? "Transfers (paused)" : "Transfers",
            detail: report.waiting > 0 ? "\(counts), \(report.waiting) waiting" : counts, brief: counts)
    }

    override var footing: Footing {
        let isPaused = context.wishes.isPaused
        return Footing(
            text: isPaused
                ? "Paused: no new transfers"
                : isOffline ? "Offline" : report.running > 0 ? "Transferring" : "Idle",
            hints: [
                (.pause, isPaused ? "resume" : "pause"), (.stop, "skip"), (.retry, "retry"), (.retryAll, "retry all"),
                (.help, "help"),
            ])
    }

    private var isOffline: Bool { context.settings.offline }

    // MARK: - Input

    override func perform(_ command: Command) -> Bool {
        switch command {
        case .pause: context.wishes.isPaused ? context.wishes.resume() : context.wishes.pause()
        case .stop:
            switch selected {
            case .export(let job): job.cancel()
            case .transfer(let transfer): context.wishes.decline(transfer.subject)
            case nil: break
            }
        case .retry: if case .transfer(let transfer) = selected { context.wishes.retry([transfer.subject]) }
        case .retryAll: context.wishes.retryAll()
        default:
            guard scroll.perform(command) else { return false }
            selectionDidMove()
        }
        return true
    }

    var selected: TransferEntry? {
        entries.indices.contains(scroll.selected) ? entries[scroll.selected] : nil
    }

    override func go(to index: Int) -> Bool { select(index: index) }

    override func follow(_ mouse: InputEvent.Mouse) -> Bool { followInList(mouse) }

    func selectionDidMove() { selection = selected?.identity }

    override func modelUpdated(_ update: ModelUpdate) {
        switch update {
        case .traffic, .exports: adopt()
        default: return
        }
        if watch != nil { setNeedsDisplay() }
    }

    private func adopt() {
        report = context.activity.traffic ?? TrafficReport()
        entries = context.exports.jobs.map { .export($0) } + report.transfers.map { .transfer($0) }
        scroll.setCount(entries.count)
        // If the selected entry is gone, the selection stays at its index.
        if let index = entries.firstIndex(where: { $0.identity == selection }) { scroll.select(index) }
        selection = selected?.identity
    }

    override func didAppear() {
        watch = context.activity.watchTraffic()
        adopt()
    }

    override func didDisappear() {
        watch = nil
    }

    // MARK: - Drawing

    override func draw(in surface: inout Surface, frame: Rect) {
        var rest = frame
        scroll.beginDrawing()
        drawHeader(in: &surface, &rest)
        drawDetail(in: &surface, &rest)
        let unnamed = unnamed
        let more = unnamed.isEmpty || rest.size.rows < 4 ? Rect(Size(columns: 0, rows: 0)) : rest.takeBottom(1)
        surface.write(
            "   … and \(unnamed)".truncated(toWidth: more.size.columns), in: more, style: context.theme.detail)
        let row = TransferRow(columns: rest.size.columns, theme: context.theme)
        scroll.setVisible(rest.size.rows / row.height)
        guard !scroll.isEmpty else { return drawEmpty(in: &surface, rest) }
        let now = context.now()
        scroll.drawBar(in: &surface, rest, context.theme)
        for index in scroll.window {
            let line = rest.takeTop(row.height)
            scroll.setFrame(line, of: index)
            let isSelected = index == scroll.selected
            switch entries[index] {
            case .export(let job):
                ExportRow(theme: context.theme, height: row.height)
                    .draw(job, isSelected: isSelected, in: &surface, frame: line)
            case .transfer(let transfer):
                row.draw(
                    transfer, SubjectName(transfer.subject, context), isSelected: isSelected, now: now,
                    in: &surface, frame: line)
            }
        }
    }

    private func drawHeader(in surface: inout Surface, _ rest: inout Rect) {
        let theme = context.theme
        var line = rest.takeTop(1)
        line.trimSides()
        let speed = report.running > 0 ? context.activity.speed : 0
        let text = TrafficText.speed(speed)
        let state = TrafficText.state(
            report, isUsed: !isOffline, columns: line.size.columns - 2 - text.displayWidth)
        if !state.text.isEmpty {
            _ = line.takeLeft(surface.write(state.text, in: line, style: state.isBad ? theme.trouble : theme.name))
            _ = line.takeLeft(2)
        }
        _ = line.takeLeft(surface.write(text, in: line, style: theme.selectedName))
        _ = line.takeLeft(2)
        let speeds = context.activity.speeds
        let peak = "peak \(TrafficText.speed(max(speed, Double(speeds.max() ?? 0))))"
        if line.size.columns >= 20 + peak.displayWidth + 2 {
            surface.write(peak, in: line.takeRight(peak.displayWidth), style: theme.detail)
            _ = line.takeRight(2)
        }
        // A screen reader gets the speed and the peak as numbers.
        if !theme.signs.isPlain {
            let spark = Sparkline.text(speeds, columns: line.size.columns, theme.signs)
            surface.write(spark, in: line, style: theme.barDone)
        }
        drawParticulars(in: &surface, &rest)
    }

    /// Draws details of the traffic, in at most a fifth of the rows.
    private func drawParticulars(in surface: inout Surface, _ rest: inout Rect) {
        var lines: [String] = []
        for part in TrafficText.particulars(report, restrictions: context.activity.restrictions) {
            if let last = lines.last, last.displayWidth + 3 + part.displayWidth <= rest.size.columns - 2 {
                lines[lines.count - 1] = "\(last) · \(part)"
            } else {
                lines.append(part)
            }
        }
        guard rest.size.rows >= 6 else { return }
        for text in lines.prefix(rest.size.rows / 5) {
            var line = rest.takeTop(1)
            _ = line.takeLeft(1)
            surface.write(text.truncated(toWidth: line.size.columns), in: line, style: context.theme.detail)
        }
        context.theme.drawRule(in: &surface, &rest)
    }

    /// Draws details of the selected entry, such as its gallery, its host and the reason why it waits.
    private func drawDetail(in surface: inout Surface, _ rest: inout Rect) {
        var paragraphs: [(text: String, style: Style)]
        switch selected {
        case nil: return
        case .export(let job):
            paragraphs = [("\(job.gallery) · to \(job.folder)", context.theme.detail)]
            if let failure = job.failure { paragraphs.insert((failure, context.theme.trouble), at: 0) }
        case .transfer(let transfer):
            let name = SubjectName(transfer.subject, context)
            let origin = [name.gallery, transfer.host].filter { !$0.isEmpty }.joined(separator: " · ")
            paragraphs = [(origin, context.theme.detail)]
            let now = context.now()
            if let reason = TransferText.reason(transfer.stage, now: now) {
                paragraphs.insert((reason, context.theme.trouble), at: 0)
            }
        }
        DetailPane(theme: context.theme).draw(
            paragraphs, lines: rest.size.rows < 12 ? 2 : 3, in: &surface, &rest)
    }

    /// The text about transfers that the list does not show, such as `12 more queued, 3 more to retry`.
    private var unnamed: String {
        let queued =
            report.queued
            - report.transfers.count {
                switch $0.stage {
                case .queued, .heldBack: true
                case .running, .waiting: false
                }
            }
        let waiting = report.waiting - report.transfers.count { if case .waiting = $0.stage { true } else { false } }
        return [
            queued > 0 ? "\(queued) more queued" : nil, waiting > 0 ? "\(waiting) more to retry" : nil,
        ].compactMap { $0 }.joined(separator: ", ")
    }

    private func drawEmpty(in surface: inout Surface, _ frame: Rect) {
        let text = report.running + report.queued + report.waiting > 0 ? "…" : "No transfers"
        EmptyText(title: text).draw(in: &surface, frame, context.theme)
    }
}

/// An entry of the transfers screen: an export or a transfer.
@MainActor
enum TransferEntry {
    /// Identifies an entry, even if its index changes.
    enum Identity: Hashable {
        case export(Int)
        case transfer(Wish.Subject)
    }

    case export(ExportJob)
    case transfer(TransferReport)

    var identity: Identity {
        switch self {
        case .export(let job): .export(job.number)
        case .transfer(let transfer): .transfer(transfer.subject)
        }
    }
}
