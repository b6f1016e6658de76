import Cache
import Cells
import Commands
import Model
import Settings
import Text

/// The galleries to choose from, and where another is added by typing its address.
///
/// What is done to the list is a draft. Saving keeps it, opening a gallery saves it first, and going back discards it.
@MainActor
final class GalleriesScreen: Screen, ListScreen {
    private(set) var draft: GalleryDraft
    var scroll = ListScroll()
    var places = ListPlaces()
    var bar = ScrollBar()
    let field = TextField()
    /// What is being typed.
    private(set) var typed = Typed.nothing
    /// Why what was typed cannot be used.
    private var problem: String?
    /// What the caches know, looked up when the screen comes up and when something changes.
    private(set) var records: [Address: GalleryRecord] = [:]
    /// Whether that has been looked up.
    private(set) var hasLookedUp = false
    /// Whether something has been said of updates since they were drawn, which stand beside what the caches know.
    private var hasStatusNews = false
    private let lookUp: LookUp<[Address: GalleryRecord]>
    private var isOnTop = false

    enum Typed {
        case nothing, address
        /// How often the selected gallery is updated.
        case interval
    }

    override init(_ context: ScreenContext) {
        draft = GalleryDraft(presets: context.galleries.presets, list: context.galleries.list)
        lookUp = LookUp(wait: context.wait)
        super.init(context)
        lookUp.begin = { [weak self, caches = context.caches] in
            guard let addresses = self?.draft.addresses else { return nil }
            // For each another database is opened.
            return {
                Dictionary(
                    uniqueKeysWithValues: addresses.compactMap { address in
                        caches.record(of: address).map { (address, $0) }
                    })
            }
        }
        lookUp.onFound = { [weak self] in self?.take($0) }
        field.next = self
        field.onEnter = { [weak self] in self?.take($0) }
        field.onEscape = { [weak self] in self?.stopTyping() }
    }

    // MARK: - What it says

    var isTyping: Bool { typed != .nothing }
    override var focus: Responder { isTyping ? field : self }
    override var scopes: [CommandTable.Scope] { [.galleries, .lists, .everywhere] }

    override var heading: Heading {
        Heading(title: "Galleries", detail: draft.isChanged ? "not saved" : "")
    }

    override var footing: Footing {
        guard !isTyping else {
            return Footing(
                text: problem
                    ?? (typed == .interval
                        ? "Like 30m, 2h, 1d, or never; empty: as set for all" : "Enter adds it, Esc does not"),
                isTrouble: problem != nil)
        }
        let count = draft.addresses.count
        var footing = Footing(
            text: count == 0 ? StatusText.noGallery : CountText.text(count, "gallery", "galleries"))
        footing.badge = ErrorText.badge(errorCount, context.keys)
        footing.hints = [(.open, "open"), (.add, "add"), (.remove, "remove"), (.save, "save"), (.help, "help")]
        return footing
    }

    /// Galleries whose last update failed, and whatever else failed in this run.
    private var errorCount: Int {
        let lists = records.filter { $0.value.failure != nil }.keys.map { Wish.Subject.list(GalleryID($0)) }
        return Set(lists + context.activity.failures.map(\.subject)).count
    }

    // MARK: - What happens

    override func handle(_ event: InterfaceEvent) -> InterfaceEvent? {
        guard case .command(let command, nil) = event else { return super.handle(event) }
        problem = nil
        switch command {
        case .open:
            guard let address = draft.selection else { return nil }
            save()
            return .openGallery(address)
        case .add: startTyping(.address)
        case .setInterval:
            if draft.selection != nil { startTyping(.interval, draft.selectedInterval?.shortText ?? "") }
        case .remove: remove()
        case .keep: keep()
        case .save:
            guard draft.isChanged || context.galleries.failure != nil else {
                return .notice("There is nothing to save.")
            }
            save(notice: "The list of galleries is saved.")
        case .back where draft.isChanged:
            discard()
            return .notice("The changes are discarded.")
        default:
            guard obey(command) else { return event }
        }
        return .needsDisplay
    }

    override func obey(_ command: Command) -> Bool {
        // What is typed is about what is selected.
        guard !isTyping, scroll.obey(command) else { return false }
        selectionDidMove()
        return true
    }

    override func go(to place: Int) -> Bool { !isTyping && select(place: place) }

    private func startTyping(_ what: Typed, _ text: String = "") {
        typed = what
        field.begin(text)
    }

    private func stopTyping() {
        typed = .nothing
        problem = nil
    }

    private func take(_ text: String) {
        if typed == .interval { setInterval(text) } else { add(text) }
    }

    private func setInterval(_ text: String) {
        let interval = SyncInterval(text)
        guard interval != nil || text.allSatisfy(\.isWhitespace) else {
            return problem = "“\(text.madeVisible)” is no interval: like 30m, 2h or 1d, at most 7d, or never."
        }
        draft.setInterval(interval)
        stopTyping()
        adoptDraft()
    }

    private func add(_ text: String) {
        do throws(AddressError) {
            try draft.add(typed: text, home: context.home, currentFolder: context.currentFolder)
            stopTyping()
            adoptDraft()
        } catch {
            problem = error.description
        }
    }

    private func remove() {
        guard draft.selection != nil else { return }
        if draft.removeSelected() {
            adoptDraft()
        } else {
            send(.notice("This gallery comes with Vitrine and cannot be removed."))
        }
    }

    /// Marks the selected gallery to be kept, or takes the mark away. Off the main actor: its cache may have to be opened.
    private func keep() {
        guard let address = draft.selection else { return }
        Task.detached { [weak self, caches = context.caches] in
            var failure: String?
            do {
                if let gallery = caches.gallery(address), !gallery.isEmpty {
                    try await caches.open(address).writer.toggleKept()
                } else {
                    failure = "This gallery was not opened yet: there is nothing to keep."
                }
            } catch {
                failure = "\(error)"
            }
            await self?.noteKept(failure)
        }
    }

    private func noteKept(_ failure: String?) {
        if let failure { send(.notice(failure)) }
        lookUp.look()
    }

    /// - Parameter notice: what is said if it goes well.
    private func save(notice: String? = nil) {
        context.galleries.save(draft.list) { [weak self] failure in
            if let text = failure ?? notice { self?.send(.notice(text)) }
        }
        renewDraft()
    }

    private func discard() {
        renewDraft()
    }

    /// A draft of what is kept now, on the same gallery as far as it is there.
    private func renewDraft() {
        let selection = draft.selection
        draft = GalleryDraft(presets: context.galleries.presets, list: context.galleries.list)
        if let selection { draft.select(selection) }
        adoptDraft()
    }

    /// Selects a gallery: the one that was opened elsewhere.
    func select(_ address: Address) {
        draft.select(address)
        adoptDraft()
    }

    private func adoptDraft() {
        scroll.setCount(draft.addresses.count)
        scroll.select(draft.selected)
        draft.selected = scroll.selected
        lookUp.look()
    }

    override func didAppear() {
        isOnTop = true
        // What is not saved is still there after a look at the help.
        if draft.isChanged { adoptDraft() } else { renewDraft() }
    }

    override func didDisappear() {
        isOnTop = false
    }

    override func follow(_ mouse: InputEvent.Mouse) -> Bool {
        // What is typed is about what is selected.
        isTyping ? false : followInList(mouse)
    }

    func selectionDidMove() { draft.selected = scroll.selected }

    override func modelUpdated(_ update: ModelUpdate) {
        guard isOnTop else { return }
        switch update {
        case .gallery: lookUp.noteNews()
        case .activity(let change) where change.hasFailures || !change.galleries.isEmpty:
            hasStatusNews = true
            lookUp.noteNews()
            if change.hasFailures { setNeedsDisplay() }
        default: return
        }
    }

    private func take(_ records: [Address: GalleryRecord]) {
        guard records != self.records || hasStatusNews || !hasLookedUp else { return }
        (self.records, hasLookedUp) = (records, true)
        hasStatusNews = false
        if isOnTop { setNeedsDisplay() }
    }

    override func draw(in surface: inout Surface, frame: Rect) {
        drawAll(in: &surface, frame)
    }
}
