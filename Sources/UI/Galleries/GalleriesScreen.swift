import Cache
import Session
import Cells
import Commands
import Model
import Settings
import Text

/// The galleries to choose from, and where another is added by typing its address.
///
/// Changes to the list are a draft. Saving keeps it, and opening a gallery saves it first. Going back and quitting ask what
/// becomes of it.
@MainActor
final class GalleriesScreen: Screen, ListScreen {
    var draft: GalleryDraft
    var scroll = ListScroll()
    let field = TextField()
    /// What is being typed.
    private(set) var typed = Typed.nothing
    /// Why what was typed cannot be used.
    var problem: String?
    /// What the caches know, looked up when the screen comes up and when something changes.
    private(set) var facts: [Address: GalleryFacts] = [:]
    /// Whether that has been looked up.
    private(set) var hasLookedUp = false
    /// Whether something has been said of updates since they were drawn, which stand beside what the caches know.
    private var hasStatusNews = false
    let lookUp: LookUp<[Address: GalleryFacts]>
    /// How much room each takes is to be looked up, too: that means looking through folders.
    private var wantsSizes = true
    /// A gallery that was opened without being in the list.
    var visited: Address?
    /// Of these galleries nothing is to stay, once it is saved that they are not in the list.
    var unwantedCaches: Set<Address> = []
    /// Removes them.
    var removing: Task<Void, Never>?
    private var isOnTop = false

    enum Typed {
        case nothing, address
        /// Another address for the selected gallery; what it is called.
        case otherAddress, title
        /// How often the selected gallery is updated.
        case interval
    }

    override init(_ context: ScreenContext) {
        draft = GalleryDraft(presets: context.galleries.presets, list: context.galleries.list)
        lookUp = LookUp(wait: context.wait)
        super.init(context)
        lookUp.begin = { [weak self] in self?.beginLookingUp() }
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
        Heading(title: "Galleries", detail: isChanged ? "not saved" : "")
    }

    override var footing: Footing {
        guard !isTyping else {
            return Footing(text: problem ?? advice, isTrouble: problem != nil)
        }
        let count = draft.addresses.count
        var footing = Footing(
            text: count == 0 ? StatusText.noGallery : CountText.text(count, "gallery", "galleries"))
        footing.badge = ErrorText.badge(errorCount, context.keys)
        footing.hints = count == 0 ? [(.add, "add")] : [(.open, "open"), (.add, "add"), (.remove, "remove")]
        if isChanged || context.galleries.failure != nil { footing.hints.append((.save, "save")) }
        footing.hints.append((.help, "help"))
        return footing
    }

    /// What to type.
    private var advice: String {
        switch typed {
        case .interval: "Like 30m, 2h, 1d, or never; empty: as set for all"
        case .otherAddress: "Enter goes on to the title, Esc leaves it as it is"
        case .title: "Enter keeps it, Esc does not; empty: the address"
        case .nothing, .address: "Enter adds it, Esc does not"
        }
    }

    /// Galleries whose last update failed, and whatever else failed in this run.
    private var errorCount: Int {
        let lists = facts.filter { $0.value.record.failure != nil }.keys.map { Wish.Subject.list(GalleryID($0)) }
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
        case .add: if draft.addSelected() { adoptDraft() } else { startTyping(.address) }
        case .setInterval:
            if draft.selection != nil { startTyping(.interval, draft.selectedInterval?.shortText ?? "") }
        case .keep: keep()
        case .save:
            guard isChanged || context.galleries.failure != nil else {
                return .notice("There is nothing to save.")
            }
            save(notice: "The list of galleries is saved.")
        case .back:
            // There is nothing below this screen: without changes there is nothing to leave.
            if isChanged {
                askAboutChanges("The changes are not saved.", ["save", "discard"]) { [weak self] in
                    self?.setNeedsDisplay()
                }
            }
            return nil
        default:
            if edit(command) { break }
            guard perform(command) else { return event }
        }
        return .needsDisplay
    }

    override func perform(_ command: Command) -> Bool {
        // What is typed is about what is selected.
        guard !isTyping, scroll.perform(command) else { return false }
        selectionDidMove()
        return true
    }

    override func go(to place: Int) -> Bool { !isTyping && select(index: place) }

    func startTyping(_ what: Typed, _ text: String = "") {
        typed = what
        field.begin(text)
    }

    func stopTyping() {
        typed = .nothing
        problem = nil
    }

    private func take(_ text: String) {
        switch typed {
        case .interval: setInterval(text)
        case .otherAddress: changeAddress(text)
        case .title: setTitle(text)
        case .nothing, .address: add(text)
        }
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

    override func didAppear() {
        isOnTop = true
        wantsSizes = true
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
        case .gallery:
            wantsSizes = true
            lookUp.noteNews()
        case .activity(let change) where change.hasFailures || !change.galleries.isEmpty:
            hasStatusNews = true
            lookUp.noteNews()
            if change.hasFailures { setNeedsDisplay() }
        default: return
        }
    }

    /// For each gallery another database is opened.
    private func beginLookingUp() -> @Sendable () -> [Address: GalleryFacts] {
        let (caches, addresses) = (context.caches, draft.addresses)
        let known = wantsSizes ? [:] : facts.mapValues(\.size)
        wantsSizes = false
        return {
            var facts: [Address: GalleryFacts] = [:]
            for address in addresses { facts[address] = caches.facts(of: address, size: known[address]) }
            return facts
        }
    }

    /// Looks once more, at what they take on the disk too.
    func lookUpSizes() {
        wantsSizes = true
        lookUp.look()
    }

    private func take(_ facts: [Address: GalleryFacts]) {
        guard facts != self.facts || hasStatusNews || !hasLookedUp else { return }
        (self.facts, hasLookedUp) = (facts, true)
        hasStatusNews = false
        if isOnTop { setNeedsDisplay() }
    }

    override func draw(in surface: inout Surface, frame: Rect) {
        drawAll(in: &surface, frame)
    }
}
