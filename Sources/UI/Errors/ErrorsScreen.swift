import Cache
import Cells
import Commands
import Concurrency
import Model
import Session
import Settings
import Text

/// The screen of unresolved failures: failures of this run, and earlier failures from the caches.
@MainActor
final class ErrorsScreen: Screen, ListScreen {
    /// The failures on the screen. Not private because tests read the list.
    private(set) var list = ErrorList()
    /// The scrolling state. Not private because ``ListScreen`` changes this state.
    var scroll = ListScroll()
    /// Identifies the selected row. The selection stays on this row when the row's index changes.
    private var selection: ErrorRow.Identity?
    /// The failures in the caches when the screen last read the caches.
    private var kept: [GalleryFailures] = []
    private let lookUp: LookUp<[GalleryFailures]>
    private var isOnTop = false
    /// The alarm that redraws the screen when the selected row's next attempt is due.
    private let alarm: Alarm

    /// The maximum number of photos with their own rows for each failure reason.
    private nonisolated static let photoLimit = 50

    override init(_ context: ScreenContext) {
        lookUp = LookUp(wait: context.wait)
        alarm = Alarm(wait: context.wait)
        super.init(context)
        lookUp.begin = { [caches = context.caches, galleries = context.galleries] in
            let remembered = galleries.addresses
            return { Self.lookUp(caches, remembered) }
        }
        lookUp.onFound = { [weak self] in self?.take($0) }
    }

    // MARK: - Lines

    override var leavesWishes: Bool { true }
    override var scopes: [CommandTable.Scope] { [.errors, .lists, .everywhere] }

    override var heading: Heading {
        Heading(title: "Errors", detail: list.count == 0 ? "" : "\(list.count)")
    }

    override var footing: Footing {
        let count = context.activity.failureCount
        return Footing(
            text: count == 0 ? "No errors in this session" : "\(count) in this session",
            hints: [
                (.retry, "retry"), (.retryAll, "retry all"), (.open, "show"), (.copy, "copy"), (.clear, "clear"),
                (.help, "help"),
            ])
    }

    private var selected: ErrorRow? {
        list.rows.indices.contains(scroll.selected) ? list.rows[scroll.selected] : nil
    }

    // MARK: - Input

    override func perform(_ command: Command) -> Bool {
        switch command {
        case .open: openSelected()
        case .retry: if let selected { retry(retriable([selected])) }
        case .retryAll:
            let rows = retriable(list.rows)
            // Offline, the waits for servers go on.
            if !context.settings.offline { context.wishes.retryAll() }
            retry(rows)
        case .clear:
            let activity = context.activity
            guard activity.failureCount > 0 else {
                send(.notice("No errors in this session."))
                break
            }
            send(.confirm("Clear the errors of this session?") { activity.clearFailures() })
        case .copy: if let selected { copy(selected.failure.reason.madeVisible) }
        default:
            guard scroll.perform(command) else { return false }
            selectionDidMove()
        }
        return true
    }

    override func go(to index: Int) -> Bool { select(index: index) }

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
            lookUp.setNeedsUpdate()
        case .activity(let change) where !change.galleries.isEmpty: lookUp.setNeedsUpdate()
        case .gallery, .results: lookUp.setNeedsUpdate()
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

    /// Reads the failures of all galleries. Runs off the main actor, because it opens databases.
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
        // If the selected row is gone, the selection stays at its index.
        if let index = list.index(of: selection) { scroll.select(index) }
        selectionDidMove()
        if isOnTop { setNeedsDisplay() }
    }

    // MARK: - Actions

    private func copy(_ reason: String) {
        guard context.capabilities.clipboard else { return send(.notice(ClipboardText.unavailable)) }
        var text = ClipboardText()
        guard text.add(reason) else { return send(.notice("The reason is too long for the clipboard.")) }
        send(.copy(reason))
        send(.notice("Sent the reason to the clipboard."))
    }

    /// Opens the gallery of the selected error. If a photo failed, opens the photo. If a thumbnail failed, selects its
    /// photo.
    private func openSelected() {
        guard let selected else { return }
        guard let address = address(of: selected.gallery) else {
            return send(.notice("This gallery is no longer in the list."))
        }
        switch selected.identity {
        case .subject(.picture(_, let key, let rendition)):
            let photo =
                selected.photo
                ?? context.caches.cache(selected.gallery).flatMap { cache in
                    try? cache.read { try $0.photo(key) }
                }
            let isOpened = photo != nil && rendition == .original
            send(.openPlace(Place(gallery: address, photo: photo?.galleryID, isPhotoOpen: isOpened)))
        default: send(.openPlace(Place(gallery: address)))
        }
    }

    /// Returns the failures that Vitrine may retry. If there are none because it is offline, says how to change that.
    private func retriable(_ rows: [ErrorRow]) -> [ErrorRow] {
        guard context.settings.offline else { return rows }
        let rows = rows.filter(isLocal)
        if rows.isEmpty { send(.notice("Offline: type “:set offline no” to retry.")) }
        return rows
    }

    /// Whether a failure concerns a file of this machine. A list on the disk may name photos on servers.
    private func isLocal(_ row: ErrorRow) -> Bool {
        guard let address = address(of: row.gallery), address.isLocal else { return false }
        guard case .subject(.picture(_, let key, let rendition)) = row.identity,
            let cache = context.caches.cache(row.gallery),
            let source = try? cache.read({ try $0.source(of: key, rendition)?.address })
        else { return true }
        return source.isLocal
    }

    /// Retries failures now. Vitrine retries photos without rows of their own when they become visible.
    private func retry(_ rows: [ErrorRow]) {
        guard !rows.isEmpty else { return }
        for (gallery, rows) in Dictionary(grouping: rows, by: \.gallery) {
            guard let address = address(of: gallery) else { continue }
            let subjects = rows.compactMap { if case .subject(let subject) = $0.identity { subject } else { nil } }
            // A summary row stands for photos that it does not name, so the whole gallery is retried.
            let isWhole = subjects.count < rows.count
            Task { [weak self, context] in
                do {
                    try await context.retry(gallery, subjects) { [caches = context.caches] in
                        try await caches.open(address).writer.retry(isWhole ? nil : subjects.compactMap(\.photo))
                    }
                    self?.lookUp.look()
                } catch {
                    context.log.error(.cache, "\(error)")
                    self?.send(.notice("\(error)"))
                }
            }
        }
        let hasMore = rows.contains { $0.count > 1 }
        send(.notice(hasMore ? "Retrying. Vitrine retries hidden photos when they become visible." : "Retrying."))
    }

    private func address(of gallery: GalleryID) -> Address? {
        if let cache = context.caches.cache(gallery) { return cache.address }
        return context.galleries.addresses.first { GalleryID($0) == gallery }
    }

    // MARK: - Drawing

    override func draw(in surface: inout Surface, frame: Rect) {
        var rest = frame
        scroll.beginDrawing()
        let now = context.now()
        guard !list.rows.isEmpty else {
            return EmptyText(title: "No errors").draw(in: &surface, rest, context.theme)
        }
        drawDetail(now, in: &surface, &rest)
        let height = rest.size.columns < 70 ? 2 : 1
        scroll.layOut(lines, rows: rest.size.rows, height: height)
        scroll.drawBar(in: &surface, rest, context.theme)
        for index in scroll.window {
            if list.isFirstOfGallery(index) || index == scroll.first {
                drawTitle(list.rows[index].gallery, in: &surface, rest.takeTop(1))
            }
            let row = rest.takeTop(height)
            scroll.setFrame(row, of: index)
            draw(list.rows[index], isSelected: index == scroll.selected, now, in: &surface, row)
        }
    }

    /// The layout of the rows: one entry in each line, with the titles of galleries above.
    var lines: ListLines {
        let (list, count) = (list, list.rows.count)
        // Each entry has its own line, so only the start of a section matters.
        return ListLines(count: count, hasTitles: true) { (list.isFirstOfGallery($0) ? $0 : 0)..<count }
    }

    private func drawTitle(_ gallery: GalleryID, in surface: inout Surface, _ line: Rect) {
        var rest = line
        _ = rest.takeLeft(1)
        let title = address(of: gallery).map { context.title(of: $0) } ?? "A gallery that is no longer in the list"
        surface.write(title.truncated(toWidth: rest.size.columns - 1), in: rest, style: context.theme.section)
    }

    private func draw(
        _ row: ErrorRow, isSelected: Bool, _ now: Timestamp, in surface: inout Surface, _ frame: Rect
    ) {
        let theme = context.theme
        var rest = ListRow.begin(frame, isSelected: isSelected, theme, in: &surface)
        var line = rest.takeTop(1)
        if rest.size.rows == 0 {
            let reason = line.takeRight(line.size.columns * 2 / 5)
            surface.write(row.failure.reason.truncated(toWidth: reason.size.columns), in: reason, style: theme.trouble)
            _ = line.takeRight(2)
        } else {
            surface.write(row.failure.reason.truncated(toWidth: rest.size.columns), in: rest, style: theme.trouble)
        }
        if line.size.columns >= 30 {
            surface.write(ErrorText.time(row, now: now), in: line.takeLeft(10), style: theme.detail)
            _ = line.takeLeft(1)
        }
        let (name, kind) = names(row)
        if line.size.columns >= 28 {
            let attempts = ErrorText.attempts(row)
            surface.write(attempts, in: line.takeRight(max(4, attempts.displayWidth)), style: theme.detail)
            _ = line.takeRight(1)
        }
        if line.size.columns >= 20 {
            surface.write(kind, in: line.takeRight(9), style: theme.detail)
            _ = line.takeRight(2)
        }
        surface.write(
            name.truncated(toWidth: line.size.columns), in: line, style: isSelected ? theme.selectedName : theme.name)
    }

    private func names(_ row: ErrorRow) -> (name: String, kind: String) {
        switch row.identity {
        case .rest(_, let rendition, _):
            return ("… and \(CountText.text(row.count, SubjectName.kind(rendition))) more", "")
        case .subject(.list): return ("list of photos", "list")
        case .subject(let subject):
            if let photo = row.photo, case .picture(_, _, let rendition) = subject {
                return (photo.name, SubjectName.kind(rendition))
            }
            let name = SubjectName(subject, context)
            return (name.name, name.kind)
        }
    }

    private func drawDetail(_ now: Timestamp, in surface: inout Surface, _ rest: inout Rect) {
        guard let selected else { return }
        let lines = rest.size.rows < 12 ? 2 : rest.size.rows < 30 ? 4 : 6
        let history = ErrorText.history(
            selected, now: now, update: nextUpdate(selected), isPaused: context.wishes.isPaused)
        DetailPane(theme: context.theme).draw(
            [(history, context.theme.detail), (selected.failure.reason, context.theme.trouble)],
            lines: lines, in: &surface, &rest)
    }

    /// Returns the time of the next automatic update of the row's gallery.
    private func nextUpdate(_ row: ErrorRow) -> Timestamp? {
        guard case .subject(.list(let gallery)) = row.identity else { return nil }
        return address(of: gallery).flatMap(context.nextUpdate)
    }
}
