import Cache
import Concurrency
import Session
import Cells
import Commands
import Model
import Text

/// What failed and has not come since: in this run, and what the caches have kept of earlier ones.
@MainActor
final class ErrorsScreen: Screen, ListScreen {
    private(set) var list = ErrorList()
    var scroll = ListScroll()
    var places = ListPlaces()
    var bar = ScrollBar()
    /// Selection follows identity.
    private var selection: ErrorRow.Identity?
    /// What the caches keep, as it was looked up last.
    private var kept: [GalleryFailures] = []
    private let lookUp: LookUp<[GalleryFailures]>
    private var isOnTop = false
    /// Set to when the selected one is tried again: from then on something else is said of that.
    private let alarm: Alarm

    /// How many photos are named that failed for the same reason.
    private nonisolated static let photoLimit = 50

    override init(_ context: ScreenContext) {
        lookUp = LookUp(wait: context.wait)
        alarm = Alarm(wait: context.wait)
        super.init(context)
        lookUp.begin = { [caches = context.caches, galleries = context.galleries] in
            let remembered = galleries.presets + galleries.list.addresses
            return { Self.lookUp(caches, remembered) }
        }
        lookUp.onFound = { [weak self] in self?.take($0) }
    }

    // MARK: - What it says

    override var leavesWishes: Bool { true }
    override var scopes: [CommandTable.Scope] { [.errors, .lists, .everywhere] }

    override var heading: Heading {
        Heading(title: "Errors", detail: list.count == 0 ? "" : "\(list.count)")
    }

    override var footing: Footing {
        let count = context.activity.failureCount
        return Footing(
            text: count == 0 ? "None in this run" : "\(count) in this run",
            hints: [
                (.retry, "try"), (.retryAll, "try all"), (.open, "go there"), (.copy, "copy"), (.clear, "clear"),
                (.help, "help"),
            ])
    }

    var selected: ErrorRow? {
        list.rows.indices.contains(scroll.selected) ? list.rows[scroll.selected] : nil
    }

    // MARK: - What happens

    override func perform(_ command: Command) -> Bool {
        switch command {
        case .open: openSelected()
        case .retry: if let selected { tryAgain([selected]) }
        case .retryAll:
            context.wishes.retryAll()
            tryAgain(list.rows)
        case .clear:
            let activity = context.activity
            send(.confirm("Clear the errors of this run?") { activity.forgetFailures() })
        case .copy:
            guard let selected else { break }
            send(.copy(selected.failure.reason.madeVisible))
            send(.notice("The reason was sent to the clipboard."))
        default:
            guard scroll.perform(command) else { return false }
            selectionDidMove()
        }
        return true
    }

    override func go(to place: Int) -> Bool { select(index: place) }

    override func follow(_ mouse: InputEvent.Mouse) -> Bool { followInList(mouse) }

    func selectionDidMove() {
        selection = selected?.identity
        setAlarm()
    }

    private func setAlarm() {
        alarm.cancel()
        guard isOnTop, let next = selected?.report?.next else { return }
        let rest = next.milliseconds - context.now().milliseconds
        guard rest > 0 else { return }
        alarm.set(after: .milliseconds(rest)) { [weak self] in self?.setNeedsDisplay() }
    }

    override func modelUpdated(_ update: ModelUpdate) {
        guard isOnTop else { return }
        switch update {
        case .activity(let change) where change.hasFailures:
            adopt()
            lookUp.noteNews()
        case .activity(let change) where !change.galleries.isEmpty: lookUp.noteNews()
        case .gallery, .results: lookUp.noteNews()
        default: break
        }
    }

    override func didAppear() {
        isOnTop = true
        adopt()
        setAlarm()
        lookUp.look()
    }

    override func didDisappear() {
        isOnTop = false
        setAlarm()
    }

    /// Something was done about what failed.
    func lookAgain() { lookUp.look() }

    /// Opens other databases, and so not on the main actor.
    private nonisolated static func lookUp(_ caches: CacheFolder, _ remembered: [Address]) -> [GalleryFailures] {
        let open = caches.openCaches.map(\.address)
        let addresses = open + remembered.filter { !open.contains($0) }
        return addresses.compactMap { caches.failures(of: $0, photoLimit: photoLimit) }
    }

    private func take(_ kept: [GalleryFailures]) {
        self.kept = kept
        adopt()
    }

    private func adopt() {
        let list = ErrorList(context.activity.failures, kept: kept)
        guard list != self.list else { return }
        self.list = list
        scroll.setCount(list.rows.count)
        // What has come after all leaves the selection to what has taken its place.
        if let place = list.place(of: selection) { scroll.select(place) }
        selectionDidMove()
        if isOnTop { setNeedsDisplay() }
    }

    override func draw(in surface: inout Surface, frame: Rect) {
        drawAll(in: &surface, frame)
    }
}
