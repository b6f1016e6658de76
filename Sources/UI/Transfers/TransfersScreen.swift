import Cache
import Session
import Cells
import Commands
import Model

/// What is on its way, what is to come, and how the network does.
///
/// While it is on top whoever transfers says what exactly. What the screens below want goes on being wanted: else there
/// would be nothing to see.
@MainActor
final class TransfersScreen: Screen, ListScreen {
    private(set) var report = TrafficReport()
    /// What is being saved, and below it what is transferred.
    private(set) var entries: [TransferEntry] = []
    var scroll = ListScroll()
    var places = ListPlaces()
    var bar = ScrollBar()
    /// Selection follows identity: what is selected is a thing, wherever it comes to stand.
    private var selection: TransferEntry.Identity?
    private var watch: TrafficWatch?

    override init(_ context: ScreenContext) {
        super.init(context)
        adopt()
    }

    // MARK: - What it says

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
                ? "Paused: nothing is begun"
                : isOffline ? "Offline: nothing is fetched" : report.running > 0 ? "Transferring" : "Idle",
            hints: [
                (.pause, isPaused ? "resume" : "pause"), (.stop, "not now"), (.retry, "try"), (.retryAll, "try all"),
                (.help, "help"),
            ])
    }

    var isOffline: Bool { context.settings.offline }

    // MARK: - What happens

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

    override func go(to place: Int) -> Bool { select(index: place) }

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
        // What has arrived leaves the selection to what has taken its place.
        if let place = entries.firstIndex(where: { $0.identity == selection }) { scroll.select(place) }
        selection = selected?.identity
    }

    override func didAppear() {
        watch = context.activity.watchTraffic()
        adopt()
    }

    override func didDisappear() {
        watch = nil
    }

    override func draw(in surface: inout Surface, frame: Rect) {
        drawAll(in: &surface, frame)
    }
}
