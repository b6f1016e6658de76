import Cache
import Session
import Cells
import Commands
import Logging
import Model
import Pictures
import Settings
import Text

/// A gallery's photos: a list, or a contact sheet.
@MainActor
final class PhotosScreen: Screen, ListScreen {
    let cache: GalleryCache
    let lists: PhotoLists
    let reader: CacheReader
    var record: GalleryRecord
    /// The same when the gallery was opened: what was new then stays new as long as one looks at it.
    let opened: GalleryRecord
    /// How much of the gallery failed and has not come since.
    var errorCount = 0
    var scroll = ListScroll()
    /// How the photos are shown, and how the sheet was laid out last.
    var view = View.list
    var sheet: SheetLayout?
    /// Where the user is going: 1 towards the end, -1 towards the beginning. What comes next there is fetched first.
    private var travel = (direction: 1, from: 0)
    /// Selection follows identity: what is selected is a photo, wherever it comes to stand.
    var selection: PhotoKey?
    /// A photo that was left before it had arrived. It is still wanted, but not before anything else.
    var left: PhotoKey?
    private let wisher: Wishes.Wisher
    private let client: PicturePipeline.Client
    private var subscriptions: [UpdateFeed.Subscription] = []
    private var isOnTop = false
    var errand = Errand.none
    let prompt = LinePrompt()
    private let sortMenu: SortMenu
    let marks = Marks()
    let pane: PhotoPane
    /// Whether the user has said how the list is to be divided.
    var isDivisionChosen: Bool

    /// What the user is in the middle of.
    enum Errand: Equatable {
        case none
        /// Types what is searched for. What was selected then is where he goes back to, and where hits are counted from.
        case typing(from: PhotoKey?)
        /// Has typed it, and the first hit is still being looked for.
        case awaitingHit(from: PhotoKey?)
        /// Is about to say what the list is to be sorted by.
        case sorting
    }

    /// Opens a gallery's list as it was looked at before, on the photo that was selected then, if there still is one.
    init(_ context: ScreenContext, cache: GalleryCache, at place: Place = Place()) throws {
        self.cache = cache
        let changes = cache.changes()
        lists = try PhotoLists(
            cache, order: place.order ?? context.settings.order,
            sections: place.sections ?? context.settings.sections.rule, context)
        reader = try cache.openReader()
        record = try reader.gallery()
        opened = record
        isDivisionChosen = place.sections != nil || context.settings.sections != .auto
        sortMenu = SortMenu(context)
        wisher = context.wishes.makeWisher()
        client = context.pipeline.makeClient()
        pane = PhotoPane(context)
        super.init(context)
        let gallery = cache.id
        subscriptions = [context.feed.follow(changes) { $0["gallery"] == nil ? nil : .gallery(gallery) }]
        sortMenu.onChoice = { [weak self] in self?.sort(by: $0) }
        sortMenu.next = self
        prompt.next = self
        pane.rest.onChange = { [weak self] in self?.setNeedsDisplay() }
        marks.onChange = { [weak self] in self?.setNeedsDisplay() }
        scroll.setCount(results.count)
        selection = results.key(at: 0)
        if let galleryID = place.photo, let photo = try reader.photo(galleryID: galleryID) {
            // Of a long list it may be in the part that is still to be read.
            scroll.select(results.index(of: photo.key) ?? 0)
            selection = photo.key
        }
        if place.view == .sheet { view = .sheet }
        if let filter = place.filter { lists.search(filter, for: .filtering) }
        let now = context.now()
        Task { [writer = cache.writer, log = context.log] in
            do { try await writer.recordOpened(at: now) } catch { log.error(.cache, "\(error)") }
        }
        if context.settings.syncOnOpen { askForUpdate() }
    }

    /// The gallery is closed: nothing is wanted for it any more.
    func close() {
        subscriptions = []
        lists.close()
        context.wishes.withdraw(
            wisher, stopping: [.list(cache.id)] + Rendition.allCases.map { .everyPicture(cache.id, $0) })
        context.pipeline.want([], by: client)
    }

    /// The user leaves the gallery, or the program.
    func noteLeft() -> Task<Void, Never> {
        Task { [writer = cache.writer, log = context.log] in
            do { try await writer.recordLeft() } catch { log.error(.cache, "\(error)") }
        }
    }

    // MARK: - What it says

    override var scopes: [CommandTable.Scope] { (isSheet ? [.sheet] : []) + [.photos, .lists, .everywhere] }

    override var commandScopes: [CommandTable.Scope] { scopes + [.sorting] }

    /// What the list shows now.
    var results: FetchedResults { lists.shown }

    override var focus: Responder {
        switch errand {
        case .typing: prompt
        case .sorting: sortMenu
        case .none, .awaitingHit: self
        }
    }

    override var heading: Heading {
        // Of a long list the beginning is there at once; where the selection stands is known when all of it is.
        let place = selection.flatMap { results.index(of: $0) }.map { CountText.text($0 + 1, of: results.count) }
        let filter = lists.isFiltered ? "“\(results.filter.text.madeVisible)”  " : ""
        let standing = results.count == 0 ? nil : place ?? NumberFormat.current.text(results.count)
        return Heading(
            title: context.title(of: cache.address),
            detail: filter + [marksText, standing, hitText].compactMap { $0 }.joined(separator: " · "),
            brief: marksText ?? hitText ?? standing ?? "")
    }

    override var footing: Footing {
        switch errand {
        case .sorting: return Footing(text: "Sort by", choices: sortMenu.choices)
        case .typing: return Footing(text: searchText)
        case .none, .awaitingHit: break
        }
        let status = status
        // Where the reason stands in the middle, it is not said twice.
        let parts = StatusText.parts(status, now: context.now(), hasReason: emptyText?.saysFailure != true)
        var footing = Footing(text: parts.text, brief: parts.success == nil ? nil : parts.state)
        if case .updating(.getting(let progress, _)) = status.state { footing.fraction = progress.fraction }
        if case .failed = status.state { footing.isTrouble = true }
        // A failed list alone is what the text is about.
        if errorCount > 1 || !status.isFailing { footing.badge = ErrorText.badge(errorCount, context.keys) }
        footing.hints = [status.isRunning ? (.stop, "stop") : (.refresh, "refresh")]
        if results.count > 0 { footing.hints.append((.open, "look")) }
        if results.count > 0 || lists.isFiltered { footing.hints.append((.search, "search")) }
        footing.hints.append((.help, "help"))
        // An update that waits goes on for hours: how to stop it is in sight, however long the reason is.
        if status.isRunning { footing.kept.insert(.stop) }
        // Beside an update there is a bar to be seen.
        if !status.isRunning, !context.settings.plain, results.count > 0 {
            footing.hints.append((.sheet, view == .list ? "sheet" : "list"))
        }
        return footing
    }

    var status: SyncStatus { context.activity.status(of: cache.id, recorded: record.status) }

    // MARK: - What happens

    override func perform(_ command: Command) -> Bool {
        switch command {
        case .open: openSelection()
        case .refresh: refresh()
        case .stop: context.wishes.stop(.list(cache.id))
        case .sort: errand = .sorting
        case .sheet: switchView()
        case .slideshow: showSlides()
        case .information: togglePane()
        default:
            return performSearching(command) || performDividing(command) || performMarking(command)
                || performSorting(command)
                || act(on: command) || performMoving(command)
        }
        return true
    }

    private func performSorting(_ command: Command) -> Bool {
        guard let order = SortMenu.order(command) else { return false }
        sort(by: order)
        return true
    }

    /// A photo is not looked at any more. Called while it is still wished for, so that what has come of it is not lost.
    func photoScreenWillLeave(_ key: PhotoKey) {
        left = key
        context.wishes.state([Wish(.picture(cache.id, key, .original), importance: .rest)], by: wisher)
    }

    private func sort(by order: PhotoOrder?) {
        errand = .none
        if let order { lists.sort(by: order, sections: lists.sections) }
    }

    override func perform(_ command: Command, _ argument: CommandArgument) -> Bool {
        switch (command, argument) {
        case (_, .text(let text)): return perform(command, text: text)
        case (.mark, .number(let count)): markOn(count)
        case (.slideshow, .number(let seconds)): showSlides(seconds: seconds)
        default: return super.perform(command, argument)
        }
        return true
    }

    override func go(to place: Int) -> Bool { select(index: place) }

    override func follow(_ mouse: InputEvent.Mouse) -> Bool {
        focus === self ? followInList(mouse) : false
    }

    func selectionDidMove() { selection = results.key(at: scroll.selected) }

    override func modelUpdated(_ update: ModelUpdate) {
        if case .results(let results, let difference) = update, results === lists.all, difference.removes {
            marks.keepOnly(results)
        }
        switch update {
        case .lists(let lists) where lists === self.lists: followLists()
        case .results(let results, let difference) where results === self.results:
            followSelection(difference)
            countErrors()
        // How many were found may be said of another list than the one that is shown.
        case .results(let results, _) where results === lists.found: break
        case .gallery(cache.id):
            if let record = try? reader.gallery() { self.record = record }
            countErrors()
        case .activity(let change) where change.hasFailures: countErrors()
        case .activity(let change) where change.galleries.contains(cache.id): break
        case .pictures: break
        default: return
        }
        if isOnTop { setNeedsDisplay() }
    }

    override func didAppear() {
        isOnTop = true
        countErrors()
    }

    override func didDisappear() {
        isOnTop = false
        context.pipeline.want([], by: client)
    }

    override func withdrawWishes() {
        left = nil
        context.wishes.withdraw(wisher)
    }

    // MARK: - How it looks

    override func draw(in surface: inout Surface, frame: Rect) {
        let (photos, orders) = drawPhotos(in: &surface, frame)
        guard isOnTop else { return }
        context.pipeline.want(orders, by: client)
        stateWishes(photos)
    }

    /// First what is seen, then a page on either side: the one that the user goes to before the one that he comes from.
    private func stateWishes(_ seen: [PhotoKey]) {
        var wishes = seen.map { Wish(.picture(cache.id, $0, .thumbnail), importance: .visible) }
        // The list may be shorter already than the one that was laid out: what became of it is on its way.
        let window = scroll.window.clamped(to: 0..<results.count)
        let after = window.upperBound..<min(results.count, window.upperBound + scroll.visible)
        let before = max(0, window.lowerBound - scroll.visible)..<window.lowerBound
        if scroll.first != travel.from { travel = (scroll.first < travel.from ? -1 : 1, scroll.first) }
        let near = travel.direction > 0 ? Array(after) + before.reversed() : before.reversed() + Array(after)
        for index in near {
            guard let key = results.key(at: index) else { continue }
            wishes.append(Wish(.picture(cache.id, key, .thumbnail), importance: .near))
        }
        if let left { wishes.append(Wish(.picture(cache.id, left, .original), importance: .rest)) }
        context.wishes.state(wishes, by: wisher)
    }
}
