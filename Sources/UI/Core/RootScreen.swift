import Cache
import Concurrency
import Session
import Cells
import Commands
import Export
import Logging
import Model
import Settings
import Text

/// The root of all screens: what is on top of what, the lines at the top and at the bottom, and the last in the chain of
/// responders.
///
///     let root = RootScreen(context)
///     root.start(at: place)
///     terminal.onEvent = { root.handle($0) }
///     terminal.onFrame = { root.frame($0) }
///
/// Changes come in here and are handed down the tree; events come up to here and end.
@MainActor
public final class RootScreen: Screen {
    /// Called when something looks different.
    public var onNeedsDisplay: () -> Void = {}
    /// Called when the user wants to quit.
    public var onQuit: () -> Void = {}
    /// Called when the user wants the program suspended.
    public var onSuspend: () -> Void = {}
    /// Called when the user wants everything drawn anew.
    public var onRedraw: () -> Void = {}
    /// Called when the user wants the settings read again.
    public var onReload: () -> Void = {}
    /// Called with text for the terminal's clipboard.
    public var onCopy: (String) -> Void = { _ in }

    /// Exports that the program's end has stopped, and how to go on with each. Known when ``finish()`` has returned.
    public private(set) var unfinishedExports: [ExportRest] = []

    struct Question {
        /// What is asked, and what can be answered.
        let parts: [String]
        let choices: [Choice]
    }

    /// What the user has not read yet, the one that is shown first.
    var notices: [String] = []
    var question: Question?
    /// Asks for a line.
    var typing: LinePrompt?
    /// Asks who the user is.
    var signIn: SignInPrompt?
    /// Where a command is being typed by its name.
    var commandLine: CommandPrompt?
    let remembered: RememberedCommands
    /// Keeps what the user said; why it could not, a sentence.
    var keeping: Task<String?, Never>?
    /// Notes which gallery was left last.
    private var leaving: Task<Void, Never>?
    private var subscriptions: [UpdateFeed.Subscription] = []
    private let pace: Throttle
    private let timer: UpdateTimer
    /// A number that was typed, for the command that comes next.
    var number: Int?
    /// Where the status line has hints now.
    var hintPlaces = HintPlaces()
    /// Where the user was when it was last looked at.
    var placeMark: PlaceMark?
    /// What the status line says of the traffic, the longest first that says it.
    var indicator: [String] = []

    /// Makes the root, with the galleries screen at the bottom.
    public override init(_ context: ScreenContext) {
        pace = Throttle(wait: context.wait)
        timer = UpdateTimer(context)
        remembered = RememberedCommands(context)
        super.init(context)
        context.feed.deliver = { [weak self] in self?.propagate($0) }
        pace.action = { [feed = context.feed] in feed.deliver(.traffic) }
        subscriptions = [
            context.feed.follow(context.activity.changes()) { [weak self] change in
                if change.hasTraffic { self?.pace.signal() }
                return change.isTrafficAlone ? nil : .activity(change)
            },
            context.feed.follow(context.pipeline.changes()) { .pictures($0.orders) },
            context.feed.follow(context.log.changes) { .log },
        ]
        context.exports.onChange = { [feed = context.feed] in feed.deliver(.exports) }
        context.exports.onEnd = { [weak self] in self?.tell($0) }
        push(GalleriesScreen(context))
        timer.onDue = { [weak self] in self?.openGallery?.askForUpdate() }
        context.nextUpdate = { [weak self] in self?.timer.due(of: $0) }
        context.galleries.onChange = { [weak self] in self?.adaptTimer() }
        context.onUpdatesReleased = { [weak self] in self?.adaptTimer() }
        adaptTimer()
        context.places.current = { [weak self] in self?.place ?? Place() }
        // What was noted before anybody listened.
        notices = context.activity.takeNotices()
    }

    /// Opens the place where the user was, or wants to be.
    public func start(at place: Place) {
        guard let gallery = place.gallery else { return }
        open(gallery, at: place)
    }

    /// Returns when what the user has saved is on the disk, and nothing is under way any more; with a sentence or more about
    /// what could not be written, and about photos that were just being saved.
    public func finish() async -> String? {
        await context.galleries.settled()
        await remembered.settled()
        await context.places.settled()
        let unkept = await keeping?.value
        await (children.first as? GalleriesScreen)?.removing?.value
        await leaving?.value
        await openGallery?.noteLeft().value
        let (ended, rests) = await context.exports.finish()
        unfinishedExports = rests
        let outcomes =
            ended
            + [context.galleries.failure ?? unkept ?? context.places.failure].compactMap { $0 }
        return outcomes.isEmpty ? nil : outcomes.joined(separator: " ")
    }

    // MARK: - What is on top

    var top: Screen { children[children.count - 1] }

    /// The list of the gallery that is open, whatever is on top of it.
    var openGallery: PhotosScreen? { children.lazy.compactMap { $0 as? PhotosScreen }.last }

    func openPhotos(of gallery: GalleryID) -> PhotosScreen? {
        openGallery.flatMap { $0.cache.id == gallery ? $0 : nil }
    }

    /// Whether the user is in the middle of nothing that a key belongs to.
    var isFree: Bool { question == nil && typing == nil && commandLine == nil && top.focus === top }

    private func push(_ screen: Screen) {
        let covered = children.last
        covered?.didDisappear()
        screen.next = self
        children.append(screen)
        screen.didAppear()
        // Only now: with neither wished for, what is fetched for later would start, and be in the way of what comes.
        // Whatever covers the transfers leaves below them what they left.
        if let covered, !screen.leavesWishes, !covered.leavesWishes { covered.withdrawWishes() }
        onNeedsDisplay()
    }

    private func pop() {
        // Below the last screen there is nothing to go back to; only `quit` ends the program.
        guard children.count > 1 else { return }
        let gone = children.removeLast()
        gone.didDisappear()
        if let photos = gone as? PhotosScreen {
            context.places.noteLeaving(photos.place)
            photos.close()
            leaving = photos.noteLeft()
        }
        gone.withdrawWishes()
        if gone is PhotosScreen { adaptTimer() }
        top.didAppear()
        onNeedsDisplay()
    }

    /// Opens a gallery at a place, or as it was looked at the last time.
    func open(_ address: Address, at place: Place? = nil) {
        while children.count > 1 { pop() }
        let place = place ?? context.places.place(in: address)
        do {
            // A database that is there opens in a few milliseconds; the first frame needs it.
            let cache = try context.caches.open(address)
            if cache.wasSetAside {
                tell("The cache of this gallery was damaged. It is set aside, and filled again.")
            }
            (top as? GalleriesScreen)?.select(address)
            let photos = try PhotosScreen(context, cache: cache, at: place)
            push(photos)
            context.holdsUpdates = false
            adaptTimer()
            context.log.info(.screen, "\(address) opened")
            if place.isPhotoOpen { photos.openSelection(fills: place.fillsScreen) }
        } catch {
            context.log.error(.cache, "\(address): \(error)")
            tell("\(error)")
        }
    }

    func adaptTimer() {
        timer.adapt(open: openGallery?.cache.address)
    }

    /// Goes back to the gallery that is open, if it is that one, so that it stays sorted and filtered as it is.
    private func show(_ place: Place) {
        guard let address = place.gallery else { return }
        guard let photos = openGallery, photos.cache.address == address else { return open(address, at: place) }
        while top !== photos { pop() }
        guard let photo = place.photo else { return }
        if !photos.select(galleryID: photo) {
            // What is shown may be without it.
            photos.leaveFilter()
            guard photos.select(galleryID: photo) else { return tell("The gallery does not have this photo any more.") }
        }
        if place.isPhotoOpen { photos.openSelection() }
    }

    /// Shows a notice now: it is about what the user has just done. Others come back when it has been read.
    func tell(_ notice: String) {
        if notices.first != notice { notices.insert(notice, at: 0) }
        onNeedsDisplay()
    }

    // MARK: - Events

    /// The terminal shows more than was thought, or less: from now on everything is drawn accordingly.
    public func adopt(_ capabilities: Capabilities) {
        context.capabilities = capabilities
        onNeedsDisplay()
    }

    override func handle(_ event: InterfaceEvent) -> InterfaceEvent? {
        switch event {
        case .key(let key): give(key)
        case .command(.open, .text(let text)?): open(typed: text)
        case .command(let command, _): act(on: command)
        case .openGallery(let address): open(address)
        case .openPlace(let place): show(place)
        case .push(let screen): push(screen)
        case .back: pop()
        case .notice(let text): tell(text)
        case .confirm(let text, let onYes):
            ask([text + " (y/n)"], [Choice("y", "yes", onYes)])
        case .choose(let text, let choices, let otherwise):
            ask([text] + choices.map { "\($0.key) \($0.word)" } + ["n \(otherwise)"], choices)
        case .type(let label, let text, let onEnter): ask(label, text, onEnter: onEnter)
        case .copy(let text): onCopy(text)
        case .needsDisplay: onNeedsDisplay()
        // The list need not be in the chain: a photo, the log or the help may have the focus.
        case .focus(let isInFront): if isInFront { openGallery?.windowCameToFront() }
        case .paste, .mouse: break
        }
        return nil
    }

    func act(on command: Command) {
        switch command {
        case .back: pop()
        case .quit: settleChanges { [weak self] in self?.quit() }
        case .help: if !(top is HelpScreen) { push(HelpScreen(context, scopes: top.scopes)) }
        case .transfers: if !(top is TransfersScreen) { push(TransfersScreen(context)) }
        case .errors: if !(top is ErrorsScreen) { push(ErrorsScreen(context)) }
        case .log: if !(top is LogScreen) { push(LogScreen(context)) }
        case .refreshAll: tell(GalleryUpdates(context).refreshAll(open: openGallery?.cache.address))
        case .command: openCommandLine()
        case .redraw: onRedraw()
        case .reload: onReload()
        case .suspend: onSuspend()
        default: break
        }
    }

    /// Asks what becomes of changes to the list of galleries that are not saved, and goes on; at once if there are none.
    private func settleChanges(_ goOn: @escaping @MainActor () -> Void) {
        guard let galleries = children.first as? GalleriesScreen, galleries.isChanged else { return goOn() }
        galleries.askAboutChanges("Quit with unsaved changes?", ["save and quit", "discard and quit"], then: goOn)
    }

    /// Ends the program. What is being saved would be stopped by that, so the user is asked.
    private func quit() {
        guard let saving = context.exports.indicator else { return onQuit() }
        ask(["Still \(saving). Quit all the same? (y/n)"], [Choice("y", "yes") { [weak self] in self?.onQuit() }])
    }

    private func ask(_ parts: [String], _ choices: [Choice]) {
        question = Question(parts: parts, choices: choices)
        onNeedsDisplay()
    }

    override func modelUpdated(_ update: ModelUpdate) {
        switch update {
        case .activity(let change):
            if change.hasNotices {
                notices += context.activity.takeNotices()
                onNeedsDisplay()
            }
            if change.hasSignIns { followSignIns() }
            if !change.galleries.isEmpty { timer.noteNews(of: change.galleries) }
        case .gallery(let gallery): timer.noteNews(of: [gallery])
        case .traffic, .exports:
            if currentIndicator != indicator { onNeedsDisplay() }
        default: break
        }
    }
}
