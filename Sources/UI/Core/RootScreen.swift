import Cache
import Cells
import Commands
import Concurrency
import Export
import Logging
import Model
import Session
import Settings
import Text

/// The root of all screens: their stack, the top and bottom lines, and the last responder.
///
///     let root = RootScreen(context)
///     root.start(at: place)
///     terminal.onEvent = { root.handle($0) }
///     terminal.onFrame = { root.frame($0) }
///
/// Changes of the model enter here and go down the tree of screens. Events come up the responder chain and end here.
@MainActor
public final class RootScreen: Screen {
    /// The functions of the program that screens call. Not private because the program sets these functions.
    public var host = Host()
    /// The exports that ``finish()`` stopped. Not private because the program continues them.
    public private(set) var unfinishedExports: [UnfinishedExport] = []

    /// Questions, prompts and notices. Not private because tests read them.
    let modals: Modals
    private let signIns: SignIns
    private let settingsChanges: SettingsChanges
    private let remembered: RememberedCommands
    /// The task that records in the cache that the user left a gallery.
    private var leaving: Task<Void, Never>?
    private var subscriptions: [UpdateFeed.Subscription] = []
    private let trafficThrottle: Throttle
    private let timer: UpdateTimer
    private var number = TypedNumber()
    /// The positions of the hints in the last frame, for mouse clicks.
    private var hintPlaces = HintPlaces()
    /// The user's position at the last frame.
    private var placeMark: PlaceMark?
    /// The traffic indicator in the last frame.
    private var drawnIndicator: [String] = []

    /// Creates the root screen with the galleries screen at the bottom of the stack.
    public override init(_ context: ScreenContext) {
        trafficThrottle = Throttle(wait: context.wait)
        timer = UpdateTimer(context)
        remembered = RememberedCommands(context)
        signIns = SignIns(context)
        modals = Modals(context, signIns)
        settingsChanges = SettingsChanges(context)
        super.init(context)
        context.feed.deliver = { [weak self] in self?.propagate($0) }
        trafficThrottle.action = { [feed = context.feed] in feed.deliver(.traffic) }
        subscriptions = [
            context.feed.follow(context.activity.changes()) { [weak self] change in
                if change.hasTraffic { self?.trafficThrottle.signal() }
                return change.isTrafficAlone ? nil : .activity(change)
            },
            context.feed.follow(context.pipeline.changes()) { .pictures($0.orders) },
            context.feed.follow(context.log.changes) { .log },
        ]
        context.exports.onChange = { [feed = context.feed] in feed.deliver(.exports) }
        context.exports.onEnd = { [weak self] in self?.modals.showResult($0) }
        modals.onNeedsDisplay = { [weak self] in self?.host.onNeedsDisplay() }
        modals.onCommand = { [weak self] in self?.performGlobal($0) }
        signIns.onChange = { [weak self] in self?.host.onNeedsDisplay() }
        settingsChanges.onNotice = { [weak self] in self?.modals.showNotice($0) }
        settingsChanges.onChange = { [weak self] in self?.adoptSettings() }
        signIns.sender = self
        signIns.onAnswered = { [weak self] in self?.requestList(of: $0) }
        push(GalleriesScreen(context))
        timer.onDue = { [weak self] in self?.openGallery?.gallery.askForAutomaticUpdate() }
        context.nextUpdate = { [weak self] in self?.timer.due(of: $0) }
        context.galleries.onChange = { [weak self] in self?.adaptTimer() }
        context.onUpdatesReleased = { [weak self] in self?.adaptTimer() }
        adaptTimer()
        context.places.current = { [weak self] in self?.place ?? Place() }
        // Show the notices that were posted before the subscription.
        modals.add(context.activity.takeNotices())
    }

    /// Opens the gallery and the photo of a position. Does nothing if the position has no gallery.
    public func start(at place: Place) {
        if let gallery = place.gallery { open(gallery, at: place) }
    }

    /// Stops all work, and returns when everything is written.
    ///
    /// The result is a text for the user about failed writes and ended exports.
    public func finish() async -> String? {
        await context.galleries.settled()
        await remembered.settled()
        await settingsChanges.settled()
        await context.places.settled()
        let signInFailure = await signIns.settled()
        await (children.first as? GalleriesScreen)?.cachesRemoved()
        await leaving?.value
        for case let photos as PhotosScreen in children { await photos.gallery.noteLeft().value }
        let unread = modals.unreadResults
        let (ended, unfinished) = await context.exports.finish()
        unfinishedExports = unfinished
        let failure = context.galleries.failure ?? signInFailure ?? context.places.failure
        let outcomes = unread + ended + [failure].compactMap { $0 }
        return outcomes.isEmpty ? nil : outcomes.joined(separator: " ")
    }

    /// Redraws the screens for the terminal's new capabilities.
    public func adopt(_ capabilities: Capabilities) {
        context.capabilities = capabilities
        host.onNeedsDisplay()
    }

    /// Applies the settings that the user has changed.
    private func adoptSettings() {
        let before = context.adoptSettings()
        adaptTimer()
        openGallery?.gallery.settingsChanged(since: before)
        host.onNeedsDisplay()
    }

    // MARK: - The stack

    private var top: Screen { children[children.count - 1] }

    /// The screen of the open gallery, even if another screen covers it.
    var openGallery: PhotosScreen? { children.lazy.compactMap { $0 as? PhotosScreen }.last }

    /// The screen of the open photo, even if another screen covers it.
    private var openPhoto: PhotoScreen? { children.lazy.compactMap { $0 as? PhotoScreen }.first }

    /// The galleries of the open screens.
    private var shownGalleries: [Address] { children.compactMap(\.shownGallery) }

    private func push(_ screen: Screen) {
        let covered = children.last
        covered?.didDisappear()
        screen.next = self
        children.append(screen)
        screen.didAppear()
        // The new screen has stated its wishes in `didAppear()`. In a gap without wishes, bulk fetches would start and
        // delay it. Screens such as the transfers leave the wishes below in place, even if another screen covers them.
        if let covered, !screen.leavesWishes, !covered.leavesWishes { covered.withdrawWishes() }
        host.onNeedsDisplay()
    }

    private func pop() {
        // Only `quit` leaves the last screen.
        guard children.count > 1 else { return }
        let removed = children.removeLast()
        removed.didDisappear()
        if let photos = removed as? PhotosScreen {
            context.places.setLeft(photos.place)
            (children.first as? GalleriesScreen)?.select(photos.cache.address, above: shownGalleries)
            photos.close()
            let (before, now) = (leaving, photos.gallery.noteLeft())
            leaving = Task {
                await before?.value
                await now.value
            }
        }
        removed.withdrawWishes()
        if removed is PhotosScreen { adaptTimer() }
        top.didAppear()
        host.onNeedsDisplay()
    }

    /// Opens a gallery at a position, or else at the user's last position in the gallery.
    ///
    /// - Parameters:
    ///   - target: a position whose photo replaces the photo of the last position.
    ///   - isAbove: whether the other screens stay below.
    private func open(_ address: Address, at place: Place? = nil, showing target: Place? = nil, isAbove: Bool = false) {
        while !isAbove, children.count > 1 { pop() }
        let place = place ?? context.places.place(in: address).showing(photoOf: target)
        do {
            // Opening a database takes a few milliseconds, and the first frame needs it.
            let cache = try context.caches.open(address)
            if cache.wasSetAside {
                modals.showNotice("Vitrine set aside the damaged cache and is filling a new one.")
            }
            (children.first as? GalleriesScreen)?.select(address, above: shownGalleries)
            let photos = try PhotosScreen(context, cache: cache, at: place)
            push(photos)
            context.holdsUpdates = false
            adaptTimer()
            context.log.info(.screen, "\(address) opened")
            // A photo that the cache lacks opens when it arrives.
            let isThere = place.photo == nil || photos.selectedGalleryID == place.photo
            if place.isPhotoOpen, isThere { photos.openSelection(fills: place.fillsScreen) }
        } catch {
            context.log.error(.cache, "\(address): \(error)")
            modals.showNotice("\(error)")
        }
    }

    /// Returns to the albums if their screen is open. Otherwise opens the albums of a gallery's server.
    private func showAlbums(of gallery: Address) {
        if let albums = children.first(where: { $0 is AlbumsScreen }) {
            while top !== albums { pop() }
            return
        }
        do { push(try AlbumsScreen(context, of: gallery)) } catch { modals.showNotice("\(error)") }
    }

    /// Opens the address, folder or file that the user typed.
    private func open(typed text: String) {
        do throws(AddressError) {
            let (address, photo) = try context.gallery(typed: text)
            open(address, showing: photo)
        } catch { modals.showNotice(error.description) }
    }

    /// Shows a gallery or a photo. The gallery keeps its order, and an open one a filter that shows the photo.
    private func show(_ place: Place) {
        guard let address = place.gallery else { return }
        guard let photos = openGallery, photos.cache.address == address else { return open(address, showing: place) }
        while top !== photos { pop() }
        guard let photo = place.photo else { return }
        if !photos.select(galleryID: photo) {
            // The filter may hide the photo, or the photo is in another folder.
            photos.showAll()
            guard photos.select(galleryID: photo) else {
                return modals.showNotice("This photo is no longer in the gallery.")
            }
        }
        if place.isPhotoOpen { photos.openSelection() }
    }

    private func adaptTimer() { timer.adapt(open: openGallery?.cache.address) }

    /// Requests the list of a gallery after the user has signed in.
    private func requestList(of gallery: GalleryID) {
        guard let cache = context.caches.cache(gallery) else { return }
        Task { [weak self, context] in
            do { try await cache.writer.retry() } catch { context.log.error(.cache, "\(error)") }
            // Wait until the refused request has ended. Otherwise the new request would end with it.
            for await snapshot in context.wishes.snapshots() where snapshot.asked[.list(gallery)] == nil { break }
            if let photos = self?.openGallery, photos.cache.id == gallery {
                photos.gallery.askForUpdate()
            } else {
                // Update a gallery that is not open.
                context.wishes.ask(for: .list(gallery))
            }
        }
        if let albums = children.first(where: { $0 is AlbumsScreen }) as? AlbumsScreen { albums.signedIn(gallery) }
    }

    // MARK: - The place

    /// The user's position: gallery, photo, order and filter.
    public var place: Place {
        guard let photos = openGallery else { return Place() }
        var place = photos.place
        place.isPhotoOpen = openPhoto != nil
        place.fillsScreen = openPhoto?.picture.view.zoom == .fill
        // The list selects another row if it does not have the open photo, as after a rating that a filter excludes.
        if let photo = openPhoto?.galleryID { (place.photo, place.subfolder) = (photo, nil) }
        return place
    }

    /// A value that changes whenever ``place`` changes. Vitrine can compare two values without the cache.
    private struct PlaceMark: Equatable {
        let photos: PhotosScreen.PlaceMark?
        let openPhoto: PhotoEntries.Entry?
        let fillsScreen: Bool
    }

    /// Schedules a save if the user's position has changed. Each frame calls this method, because each move causes a
    /// frame.
    private func followPlace() {
        let mark = PlaceMark(
            photos: openGallery?.placeMark, openPhoto: openPhoto?.actedOn,
            fillsScreen: openPhoto?.picture.view.zoom == .fill)
        guard mark != placeMark else { return }
        placeMark = mark
        context.places.scheduleSave(context.wait)
    }

    // MARK: - Commands

    private func openCommandLine() {
        let target = CommandTarget(top)
        let prompt = CommandPrompt(target.entries, remembered: remembered, context.live)
        modals.askForCommand(prompt) { [weak self] in self?.perform($0, on: target) }
    }

    /// Performs a typed command if it still applies to the target.
    private func perform(_ line: String, on target: CommandTarget) {
        guard !line.allSatisfy(\.isWhitespace) else { return }
        remembered.add(line)
        do throws(CommandsError) {
            let typed = try TypedCommand(line, among: target.entries(on: top))
            top.focus.send(.command(typed.command, typed.argument))
        } catch { modals.showNotice(error.description) }
    }

    // MARK: - Input

    /// Handles input from the terminal: keys, pasted text, focus and mouse.
    public func handle(_ input: InputEvent) {
        switch input {
        case .key(let key): handle(key)
        case .paste(let text): if !modals.handle(.paste(text)) { top.focus.send(.paste(text)) }
        case .focus(let isInFront): top.focus.send(.focus(isInFront))
        case .mouse(let mouse): handle(mouse)
        }
    }

    /// Handles a mouse event. While a question or prompt is open, the mouse has no effect.
    private func handle(_ mouse: InputEvent.Mouse) {
        guard modals.current == nil else { return }
        if case .press = mouse.action { modals.dismissNotice() }
        if case .press(1) = mouse.action, let command = hintPlaces.command(at: mouse.position) {
            return top.focus.send(.command(command))
        }
        top.focus.send(.mouse(mouse))
    }

    private func handle(_ key: Key) {
        defer { presentSignIn() }
        if modals.current?.hidesNotices != true, modals.dismissNotice(), key == Key(.escape) { return }
        if modals.handle(.key(key)) { return }
        if top.focus.takesKeys { top.focus.send(.key(key)) } else { perform(key) }
    }

    /// Opens the next sign-in prompt, unless the user is typing. A prompt would receive the rest of a typed word.
    private func presentSignIn() {
        if modals.current == nil, top.focus === top { signIns.presentNext() }
    }

    /// Translates a key to a command, and sends the command to the top screen.
    ///
    /// Unbound digits make up a number for the command: `5j`, `10G`.
    private func perform(_ key: Key) {
        let command = context.keys.command(for: key, in: top.scopes)
        if command == nil, number.take(key) { return host.onNeedsDisplay() }
        let number = number.end()
        if number != nil {
            host.onNeedsDisplay()
            // Escape only cancels the number.
            if key == Key(.escape) { return }
        }
        guard let command else { return }
        top.focus.send(.command(command, command.takesNumber ? number.map { .number($0) } : nil))
    }

    override func handle(_ event: InterfaceEvent) -> InterfaceEvent? {
        switch event {
        // The text field has passed this key on.
        case .key(let key): if context.keys.worksWhileTyping(key, in: top.scopes) { perform(key) }
        case .command(.open, .text(let text)?): open(typed: text)
        case .command(.set, .text(let text)?): settingsChanges.perform(text)
        case .command(.setAndKeep, .text(let text)?): settingsChanges.perform(text, isKept: true)
        case .changeSetting(let change): settingsChanges.perform(change)
        case .command(let command, _): performGlobal(command)
        case .openGallery(let address): open(address)
        case .openAlbum(let address): open(address, isAbove: true)
        case .showAlbums(let gallery): showAlbums(of: gallery)
        case .openPlace(let place): show(place)
        case .push(let screen): push(screen)
        case .back: pop()
        case .notice(let text): modals.showNotice(text)
        case .confirm where modals.isTyping, .choose where modals.isTyping, .type where modals.isTyping: break
        case .confirm(let text, let onYes): modals.ask([text + " (y/n)"], [Choice("y", "yes", onYes)])
        case .choose(let text, let choices, let otherwise): modals.ask(text, choices, otherwise: otherwise)
        case .type(let label, let text, let onEnter): modals.askForLine(label, text, onEnter: onEnter)
        case .copy(let text):
            context.backgroundCopy?.cancel()
            host.onCopy(text)
        case .needsDisplay: host.onNeedsDisplay()
        // A photo, the log or the help may have the focus, so the gallery is not always in the responder chain.
        case .focus(let isInFront): if isInFront { openGallery?.gallery.windowCameToFront() }
        case .paste, .mouse: break
        }
        return nil
    }

    /// Performs a command that has the same effect on every screen.
    private func performGlobal(_ command: Command) {
        switch command {
        case .back: pop()
        case .quit: settleChanges { [weak self] in self?.quit() }
        case .help: if !(top is HelpScreen) { push(HelpScreen(context, scopes: top.scopes)) }
        case .transfers: if !(top is TransfersScreen) { push(TransfersScreen(context)) }
        case .errors: if !(top is ErrorsScreen) { push(ErrorsScreen(context)) }
        case .log: if !(top is LogScreen) { push(LogScreen(context)) }
        case .settings: if !(top is SettingsScreen) { push(SettingsScreen(context)) }
        case .albums: if let openGallery { showAlbums(of: openGallery.cache.address) }
        case .refreshAll: modals.showNotice(GalleryUpdates(context).refreshAll(open: openGallery?.cache.address))
        case .command: openCommandLine()
        case .redraw: host.onRedraw()
        case .reload: settingsChanges.reload()
        case .suspend: host.onSuspend()
        default: break
        }
    }

    /// Asks about unsaved changes of the list of galleries, and then continues.
    private func settleChanges(_ goOn: @escaping @MainActor () -> Void) {
        guard let galleries = children.first as? GalleriesScreen, galleries.isChanged else { return goOn() }
        galleries.askAboutChanges("Quit with unsaved changes?", ["save and quit", "discard and quit"], then: goOn)
    }

    /// Quits. If an export is running, asks first whether it continues without Vitrine.
    private func quit() {
        let quit: @MainActor () -> Void = { [weak self] in self?.host.onQuit() }
        if let question = context.exports.question(beforeQuitting: quit) { send(question) } else { quit() }
    }

    override func modelUpdated(_ update: ModelUpdate) {
        switch update {
        case .activity(let change):
            if change.hasNotices {
                modals.add(context.activity.takeNotices())
                host.onNeedsDisplay()
            }
            if change.hasSignIns {
                signIns.questionsChanged()
                presentSignIn()
                host.onNeedsDisplay()
            }
            if !change.galleries.isEmpty { timer.galleriesChanged(change.galleries) }
        case .gallery(let gallery): timer.galleriesChanged([gallery])
        case .traffic, .exports:
            if indicator != drawnIndicator { host.onNeedsDisplay() }
        default: break
        }
    }

    // MARK: - Drawing

    /// The smallest window that shows the screens.
    static let smallest = Size(columns: 20, rows: 5)

    /// Draws a frame of this size.
    public func frame(_ size: Size) -> Surface {
        defer { followPlace() }
        var surface = Surface(size: size)
        guard size.columns >= Self.smallest.columns, size.rows >= Self.smallest.rows else {
            surface.write("Too small", in: Rect(size).centred(Size(columns: 9, rows: 1)))
            return surface
        }
        var rest = Rect(size)
        let (titleLine, statusLine) = (rest.takeTop(1), rest.takeBottom(1))
        // Draw the screen first, because its layout may change the texts of the two lines.
        top.draw(in: &surface, frame: rest)
        ScreenLines(theme: context.theme, keys: context.keys).drawHeading(top.heading, in: &surface, titleLine)
        if let prompt = signIns.prompt {
            surface.cursor = nil
            prompt.draw(in: &surface, frame: rest, theme: context.theme)
        }
        hintPlaces = HintPlaces()
        drawStatus(in: &surface, rest, statusLine)
        if context.settings.plain, surface.cursor == nil {
            let isAsked = if case .question = modals.current { true } else { false }
            surface.cursor = isAsked ? statusLine.origin : selectionOrigin
        }
        return surface
    }

    /// Draws the bottom line: a prompt, a notice or the status.
    ///
    /// - Parameter area: the area above the line, for texts longer than the line.
    private func drawStatus(in surface: inout Surface, _ area: Rect, _ line: Rect) {
        let theme = context.theme
        let lines = ScreenLines(theme: theme, keys: context.keys)
        switch modals.current {
        case .some(let modal): modals.draw(modal, in: &surface, area, line)
        case nil where modals.notice != nil:
            Announcement(parts: [modals.notice ?? ""]).draw(in: &surface, area, line, theme)
        case nil:
            let footing = top.footing
            guard footing.choices.isEmpty else {
                return Announcement(parts: [footing.text] + footing.choices).draw(in: &surface, area, line, theme)
            }
            drawnIndicator = indicator
            hintPlaces = lines.drawFooting(
                footing, scopes: top.scopes, number: number.value, indicator: drawnIndicator, in: &surface, line)
        }
    }

    /// The position of the selection. In plain mode, the cursor leads screen readers and magnifiers to this position.
    private var selectionOrigin: Point? {
        if let list = top as? any ListScreen { return list.scroll.frame(of: list.scroll.selected)?.origin }
        return (top as? PhotoScreen)?.panelFrame.origin
    }

    /// The texts about traffic for the status line, longest first. The transfers screen needs no such texts.
    var indicator: [String] {
        guard !(top is TransfersScreen) else { return [] }
        // A screen reader would read every change.
        if context.settings.plain { return context.wishes.isPaused ? ["paused"] : [] }
        let traffic = TrafficText.indicator(
            context.activity.traffic, speed: context.activity.speed, isPaused: context.wishes.isPaused)
        guard let saving = context.exports.indicator else { return traffic }
        return traffic.map { "\(saving) · \($0)" } + [saving]
    }
}
