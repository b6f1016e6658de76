import Cache
import Session
import Cells
import Commands
import Model
import Settings
import Text

/// The screen with the list of galleries, and a field to add a gallery by its address.
///
/// Changes to the list are a draft until the user saves. Opening a gallery saves the draft; quitting asks first.
@MainActor
final class GalleriesScreen: Screen, ListScreen {
    private var draft: GalleryDraft
    /// The scrolling state. Not private because ``ListScreen`` changes this state.
    var scroll = ListScroll()
    private let field = TextField()
    /// The kind of text that the user is typing.
    private var typed = Typed.nothing
    /// The reason why the screen rejects the typed text, if it does.
    private var problem: String?
    /// Facts about the caches, read when the screen appears and after changes. Not private because tests read the
    /// facts.
    private(set) var facts: [Address: GalleryFacts] = [:]
    /// Whether the screen has read the facts at least once. Not private because tests wait for this value.
    private(set) var hasLookedUp = false
    /// Whether the state of an update has changed since the last frame.
    private var hasStatusChanged = false
    private let lookUp: LookUp<[Address: GalleryFacts]>
    /// Whether the next look-up includes the sizes on disk. Reading the sizes is slow.
    private var wantsSizes = true
    /// The galleries whose caches Vitrine removes as soon as the list is saved without them.
    private var unwantedCaches: Set<Address> = []
    /// The task that removes caches.
    private var removing: Task<Void, Never>?
    private var isOnTop = false

    private enum Typed {
        case nothing, address
        /// The user types another address or a title for the selected gallery.
        case otherAddress, title
        /// The user types the update interval of the selected gallery.
        case interval
    }

    override init(_ context: ScreenContext) {
        draft = GalleryDraft(
            builtIn: context.galleries.builtIn, list: context.galleries.list,
            visited: [context.crashedGallery].compactMap(\.self))
        lookUp = LookUp(wait: context.wait)
        super.init(context)
        lookUp.begin = { [weak self] in self?.beginLookingUp() }
        lookUp.onFound = { [weak self] in self?.adopt($0) }
        field.next = self
        field.onEnter = { [weak self] in self?.accept($0) }
        field.onEscape = { [weak self] in self?.stopTyping() }
    }

    // MARK: - Lines

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

    /// A hint about the text to type.
    private var advice: String {
        switch typed {
        case .interval: "Interval, such as 30m, 2h, 1d or never; leave empty for the default"
        case .otherAddress: "Enter: continue to the title  Esc: cancel"
        case .title: "Enter: accept (empty for no title)  Esc: cancel"
        case .nothing, .address: "Enter: add  Esc: cancel"
        }
    }

    /// The number of failed updates in the caches and of failures in this run.
    private var errorCount: Int {
        let lists = facts.filter { $0.value.record.failure != nil }.keys.map { Wish.Subject.list(GalleryID($0)) }
        return Set(lists + context.activity.failures.map(\.subject)).count
    }

    // MARK: - Input

    override func handle(_ event: InterfaceEvent) -> InterfaceEvent? {
        guard case .command(let command, nil) = event else { return super.handle(event) }
        problem = nil
        switch command {
        case .open:
            guard let address = draft.selection else { return nil }
            save()
            return .openGallery(address)
        case .albums: return draft.selection.map { .showAlbums($0) }
        case .add: if draft.addSelected(titles: context.galleryNames) { adoptDraft() } else { startTyping(.address) }
        case .setInterval:
            if draft.selection != nil { startTyping(.interval, draft.selectedInterval?.shortText ?? "") }
        case .keep: keep()
        case .restoreBuiltIn:
            guard draft.restoreBuiltIn() else { return .notice("No built-in gallery is missing.") }
            adoptDraft()
        case .save:
            guard isChanged || context.galleries.failure != nil else {
                return .notice("No changes to save.")
            }
            save(
                notice: context.galleries.isKept()
                    ? "Saved the list of galleries."
                    : "Kept only until Vitrine ends: the list of galleries cannot be written.")
        case .back:
            // No screen is below this one.
            if isChanged {
                askAboutChanges("Unsaved changes:", ["save", "discard"]) { [weak self] in
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
        // The typed text is for the selected gallery, so the selection must not move.
        guard !isTyping, scroll.perform(command) else { return false }
        selectionDidMove()
        return true
    }

    override func go(to index: Int) -> Bool { !isTyping && select(index: index) }

    private func startTyping(_ what: Typed, _ text: String = "") {
        typed = what
        field.begin(text)
    }

    private func stopTyping() {
        typed = .nothing
        problem = nil
    }

    private func accept(_ text: String) {
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
            return problem =
                "“\(text.madeVisible)” is not an interval. Use a time like 30m, 2h, 1d (at most 7d), or never."
        }
        draft.setInterval(interval)
        stopTyping()
        adoptDraft()
    }

    private func add(_ text: String) {
        do throws(AddressError) {
            draft.add(try context.gallery(typed: text).address)
            stopTyping()
            adoptDraft()
        } catch {
            problem = error.description
        }
    }

    /// Turns the protection of the selected gallery's cache on or off. Runs off the main actor, because it may open a
    /// database.
    private func keep() {
        guard let address = draft.selection else { return }
        Task.detached { [weak self, caches = context.caches] in
            var failure: String?
            do {
                if let gallery = caches.gallery(address), !gallery.isEmpty {
                    try await caches.open(address).writer.toggleKept()
                } else {
                    failure = "This gallery has no cache to protect. Open the gallery first."
                }
            } catch {
                failure = "\(error)"
            }
            await self?.keptChanged(failure)
        }
    }

    private func keptChanged(_ failure: String?) {
        if let failure { send(.notice(failure)) }
        lookUp.look()
    }

    override func didAppear() {
        isOnTop = true
        wantsSizes = true
        // Unsaved changes survive a visit to another screen.
        if draft.isChanged { adoptDraft() } else { reloadDraft() }
    }

    override func didDisappear() {
        isOnTop = false
    }

    override func follow(_ mouse: InputEvent.Mouse) -> Bool {
        // The typed text is for the selected gallery, so the selection must not move.
        isTyping ? false : followInList(mouse)
    }

    func selectionDidMove() { draft.selected = scroll.selected }

    override func modelUpdated(_ update: ModelUpdate) {
        guard isOnTop else { return }
        switch update {
        case .activity(let change) where change.hasFailures || !change.galleries.isEmpty:
            hasStatusChanged = true
            if change.galleries.contains(where: { !context.activity.isUpdating($0) }) { wantsSizes = true }
            lookUp.setNeedsUpdate()
            if change.hasFailures { setNeedsDisplay() }
        default: return
        }
    }

    /// Returns the query that reads the facts. The query opens a database for each gallery.
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

    /// Reads the facts again, together with the sizes on disk.
    func lookUpSizes() {
        wantsSizes = true
        lookUp.look()
    }

    private func adopt(_ facts: [Address: GalleryFacts]) {
        guard facts != self.facts || hasStatusChanged || !hasLookedUp else { return }
        (self.facts, hasLookedUp) = (facts, true)
        hasStatusChanged = false
        if isOnTop { setNeedsDisplay() }
    }

    // MARK: - The draft

    /// Whether the list has unsaved changes.
    var isChanged: Bool { draft.isChanged || !unwantedCaches.isEmpty }

    /// Writes the edited list to the file.
    ///
    /// - Parameter notice: shown after success.
    private func save(notice: String? = nil) {
        let unwanted = unwantedCaches
        unwantedCaches = []
        context.galleries.save(draft.list, since: draft.original) { [weak self] failure in
            guard let self else { return }
            if let text = failure ?? notice { send(.notice(text)) }
            // After a failure the list on disk still has the galleries, so their caches stay.
            if failure == nil { removeCaches(of: unwanted) } else { unwantedCaches.formUnion(unwanted) }
            // Another process may have added galleries.
            if !draft.isChanged, !isTyping { reloadDraft() }
        }
        reloadDraft()
    }

    /// Asks whether to save or discard the changes, and then continues. Any other key cancels.
    ///
    /// - Parameters:
    ///   - question: the text before the answers.
    ///   - words: the words for saving and discarding.
    func askAboutChanges(_ question: String, _ words: [String], then goOn: @escaping @MainActor () -> Void) {
        send(
            .choose(
                question,
                [
                    Choice("s", words[0]) { [weak self] in
                        self?.save()
                        goOn()
                    },
                    Choice("d", words[1]) { [weak self] in
                        self?.discard()
                        goOn()
                    },
                ], otherwise: "stay"))
    }

    private func discard() {
        unwantedCaches = []
        reloadDraft()
    }

    /// Starts to edit the saved list again, with the same selection if possible.
    private func reloadDraft() {
        let selection = draft.selection
        draft = GalleryDraft(
            builtIn: context.galleries.builtIn, list: context.galleries.list, visited: draft.visited)
        if let selection { draft.select(selection) }
        adoptDraft()
    }

    /// Selects a gallery that the user opened or left.
    ///
    /// - Parameter shown: the galleries of the open screens. They stay if this one is an album of theirs.
    func select(_ address: Address, above shown: [Address]) {
        draft.visit(address, above: shown)
        adoptDraft()
    }

    private func adoptDraft() {
        scroll.setCount(draft.addresses.count)
        scroll.select(draft.selected)
        draft.selected = scroll.selected
        lookUp.look()
    }

    // MARK: - Editing

    /// Performs a command that edits the selected gallery. Returns false for other commands.
    private func edit(_ command: Command) -> Bool {
        guard [.edit, .moveUp, .moveDown, .refresh, .stop, .remove].contains(command) else { return false }
        guard let address = draft.selection else { return true }
        switch command {
        case .edit:
            // The address of a built-in gallery is fixed.
            if draft.presets.contains(address) {
                startTyping(.title, draft.list.title(of: address) ?? "")
            } else {
                startTyping(.otherAddress, address.isLocal ? address.shownText : address.textWithoutSecrets)
            }
        case .moveUp, .moveDown:
            if draft.moveSelected(by: command == .moveUp ? -1 : 1) { adoptDraft() }
        case .refresh: send(.notice(GalleryUpdates(context).refresh([address])))
        case .stop: GalleryUpdates(context).stop(address)
        default: remove(address)
        }
        return true
    }

    /// Changes the address of the selected gallery, and then asks for its title.
    private func changeAddress(_ text: String) {
        do throws(AddressError) {
            let address = try context.gallery(typed: text).address
            guard draft.replaceSelected(with: address) else {
                return problem = "This gallery is already in the list."
            }
            adoptDraft()
            startTyping(.title, draft.selection.flatMap { draft.list.title(of: $0) } ?? "")
        } catch {
            problem = error.description
        }
    }

    private func setTitle(_ text: String) {
        if let address = draft.selection { draft.setTitle(text, of: address) }
        stopTyping()
        adoptDraft()
    }

    /// Removes a gallery from the list. If the gallery has a cache, asks whether to remove the cache, too.
    private func remove(_ address: Address) {
        guard let facts = facts[address] else { return removeFromList(address) }
        send(
            .choose(
                "Remove “\(title(of: address).madeVisible)”?",
                [
                    Choice("l", "from the list only") { [weak self] in self?.removeFromList(address) },
                    Choice("c", "and its cache, \(ByteText.text(facts.size))") { [weak self] in
                        self?.removeFromList(address)
                        self?.unwantedCaches.insert(address)
                    },
                ]))
    }

    private func removeFromList(_ address: Address) {
        let isBuiltIn = draft.presets.contains(address)
        draft.remove(address)
        adoptDraft()
        let key = context.keys.key(for: .restoreBuiltIn, in: scopes)?.description
        if isBuiltIn {
            send(.notice("Removed the built-in gallery. \(key ?? ":" + Command.restoreBuiltIn.name) restores it."))
        }
    }

    /// Removes the caches of galleries that left the saved list. Runs off the main actor, because it takes time.
    private func removeCaches(of galleries: Set<Address>) {
        let addresses = galleries.filter { !draft.addresses.contains($0) }
        guard !addresses.isEmpty else { return }
        for address in addresses { GalleryUpdates(context).stop(address) }
        removing = Task.detached { [weak self, caches = context.caches, previous = removing] in
            await previous?.value
            for address in addresses {
                do {
                    try await caches.discard(address)
                } catch {
                    await self?.send(.notice("\(error)"))
                }
            }
            await self?.lookUpSizes()
        }
    }

    /// Returns when the caches of removed galleries are gone.
    func cachesRemoved() async { await removing?.value }

    /// Returns the title of a gallery in the edited list, or else its address.
    private func title(of address: Address) -> String { draft.list.title(of: address) ?? address.shownText }

    // MARK: - Drawing

    override func draw(in surface: inout Surface, frame: Rect) {
        var rest = frame
        scroll.beginDrawing()
        if isTyping { drawField(in: &surface, rest.takeBottom(2)) }
        scroll.setVisible(rest.size.rows / 2)
        scroll.setCount(draft.addresses.count)
        guard !scroll.isEmpty else { return drawEmpty(in: &surface, rest) }
        scroll.drawBar(in: &surface, rest, context.theme)
        for index in scroll.window {
            let frame = rest.takeTop(2)
            scroll.setFrame(frame, of: index)
            let address = draft.addresses[index]
            GalleryRow(
                address: address, title: draft.list.title(of: address), interval: draft.list.interval(of: address),
                isListed: draft.isListed(address), isPreset: draft.presets.contains(address), facts: facts[address]
            )
            .draw(isSelected: index == scroll.selected, context, scopes, in: &surface, frame)
        }
        drawFirstRun(in: &surface, rest)
    }

    private func drawField(in surface: inout Surface, _ frame: Rect) {
        var rest = frame
        context.theme.drawRule(in: &surface, &rest)
        let label =
            switch typed {
            case .interval: " Update interval: "
            case .title: " Title: "
            case .nothing, .address, .otherAddress: " Address: "
            }
        surface.write(label, in: rest.takeLeft(label.count), style: context.theme.detail)
        _ = rest.takeRight(1)
        field.draw(in: &surface, rest)
    }

    private func drawEmpty(in surface: inout Surface, _ frame: Rect) {
        EmptyText(galleriesIn: scopes, context.keys).draw(in: &surface, frame, context.theme)
    }

    /// Draws advice for the first run below the built-in gallery, until the user has opened a gallery.
    private func drawFirstRun(in surface: inout Surface, _ frame: Rect) {
        let isUntouched = hasLookedUp && facts.isEmpty && draft.addresses == draft.presets
        guard !isTyping, isUntouched, draft.addresses.count == 1 else { return }
        var rest = frame
        _ = rest.takeTop(1)
        _ = rest.takeLeft(3)
        _ = rest.takeRight(1)
        EmptyText(firstRunIn: scopes, context.keys).drawBelow(in: &surface, rest, context.theme)
    }
}
