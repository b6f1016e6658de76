import Cache
import Cells
import Commands
import Logging
import Model
import Pictures
import Session
import Settings
import Text

/// The screen with the photos of one gallery, as a list or a contact sheet.
///
/// ``PhotoLists`` sorts and searches, ``PhotoLayout`` draws the photos, ``PhotoDemand`` requests pictures, and
/// ``PhotoPane`` draws the preview. ``PhotoSearch``, ``FolderTravel`` and ``PhotoMarking`` perform commands.
@MainActor
final class PhotosScreen: Screen, ListScreen {
    /// The lists of the gallery's photos. The photo screen uses these lists, too.
    let lists: PhotoLists
    /// The gallery's record, failures and updates. The root screen requests updates through this object.
    let gallery: OpenedGallery
    /// The scrolling state of the list. The protocol ``ListScreen`` changes this state.
    var scroll = ListScroll()

    /// The selected row. The selection stays on this photo or folder when the list changes.
    private var selected: PhotoEntries.Entry?
    /// Whether the user chose the selection, in this run or an earlier run. Otherwise the first row stays selected.
    private var isChosen = false
    private var layout: PhotoLayout
    private var demand: PhotoDemand
    private let search: PhotoSearch
    private let travel: FolderTravel
    private let marking: PhotoMarking
    private let pane: PhotoPane
    private let sortMenu: SortMenu
    /// Whether the sort menu waits for a key.
    private var isSorting = false
    private var isOnTop = false
    private var subscriptions: [UpdateFeed.Subscription] = []

    /// Opens a gallery with the view and the selected photo of a position.
    init(_ context: ScreenContext, cache: GalleryCache, at place: Place = Place()) throws {
        let changes = cache.changes()
        lists = try PhotoLists(cache, at: place, context)
        gallery = try OpenedGallery(cache, lists.reader, context)
        layout = PhotoLayout(
            place.view == .sheet ? .sheet : .list,
            areSectionsChosen: lists.areSectionsChosen || lists.hasSections(asIn: context.settings), context)
        demand = PhotoDemand(cache.id, context)
        search = PhotoSearch(lists, context)
        travel = FolderTravel(lists, context)
        marking = PhotoMarking(lists, context)
        sortMenu = SortMenu(context)
        pane = PhotoPane(context)
        super.init(context)
        let id = cache.id
        subscriptions = [context.feed.follow(changes) { $0["gallery"] == nil ? nil : .gallery(id) }]
        (search.next, travel.next, marking.next) = (self, self, self)
        search.onSelect = { [weak self] in self?.select($0) }
        sortMenu.next = self
        sortMenu.onChoice = { [weak self] in self?.sort(by: $0) }
        pane.onRest = { [weak self] in self?.setNeedsDisplay() }
        try restoreSelection(place)
        if let filter = place.filter { lists.search(filter, for: .filtering) }
        gallery.noteOpened()
        gallery.askOnOpening()
    }

    private func restoreSelection(_ place: Place) throws {
        scroll.setCount(entries.count)
        selected = entries[0]
        guard let key = try lists.find(place) else { return restoreFolderRow(place.subfolder) }
        // In a long list that is still loading, the index is unknown.
        scroll.select(results.index(of: key) ?? 0)
        (selected, isChosen) = (.photo(key), true)
    }

    /// Selects a subfolder of the restored folder, or else its first row, as soon as the folder has been read.
    private func restoreFolderRow(_ subfolder: FolderPath?) {
        guard lists.path != nil else { return }
        if let subfolder { (selected, isChosen) = (.folder(subfolder), true) }
        travel.arrive(at: subfolder.map { .folder($0) })
    }

    var cache: GalleryCache { lists.cache }
    override var shownGallery: Address? { cache.address }

    /// The list of photos on the screen.
    private var results: FetchedResults { lists.shown }

    /// The rows on the screen: first the subfolders, if any, then the photos.
    private var entries: PhotoEntries { lists.entries }

    /// The selected photo; nil if a folder is selected.
    private var selection: PhotoKey? { selected?.photo }

    /// The selected folder; nil if a photo is selected.
    private var selectedFolder: Subfolder? {
        entries.folder(at: scroll.selected).flatMap { selected == .folder($0.path) ? $0 : nil }
    }

    /// Cancels all requests and subscriptions, because the user closes the gallery.
    func close() {
        subscriptions = []
        lists.close()
        demand.close()
    }

    // MARK: - Texts

    override var scopes: [CommandTable.Scope] {
        (layout.isSheet ? [.sheet] : []) + (lists.path == nil ? [] : [.folders]) + [.photos, .lists, .everywhere]
    }

    override var commandScopes: [CommandTable.Scope] { scopes + [.folders, .sorting, .rating] }
    override var actedOn: PhotoEntries.Entry? { marking.keys.isEmpty ? selected : nil }

    override var focus: Responder { isSorting ? sortMenu : search.focus ?? self }

    override var heading: Heading {
        // In a long list that is still loading, the index is unknown.
        let count = entries.count
        let index = selected.flatMap { entries.index(of: $0) }.map { CountText.text($0 + 1, of: count) }
        let filter = lists.isFiltered ? results.filter.text.madeVisible : nil
        let standing = count == 0 ? nil : index ?? NumberFormat.current.text(count)
        let marked = marking.keys.isEmpty ? nil : "\(marking.keys.count) marked"
        let match = isSorting ? nil : search.headingText(selection)
        let titles = lists.folder.map { travel.headings($0.path) } ?? [context.title(of: cache.address)]
        return Heading(
            title: titles[0], shorterTitles: Array(titles.dropFirst()), filter: filter,
            detail: [marked, standing, match].compactMap { $0 }.joined(separator: " · "),
            brief: marked ?? match ?? standing ?? "")
    }

    override var footing: Footing {
        if isSorting { return Footing(text: "Sort by", choices: sortMenu.choices) }
        if let text = search.typingText { return Footing(text: text) }
        let status = gallery.status
        // The text in the middle of an empty list already gives the reason.
        let parts = StatusText.parts(status, now: context.now(), hasReason: emptyText?.saysFailure != true)
        var footing = Footing(text: parts.text, brief: parts.success == nil ? nil : parts.state)
        if case .updating(.getting(let progress, _)) = status.state { footing.fraction = progress.fraction }
        if case .failed = status.state { footing.isTrouble = true }
        // The text already reports the update's own failure.
        if gallery.errorCount > 1 || !status.isFailing {
            footing.badge = ErrorText.badge(gallery.errorCount, context.keys)
        }
        footing.hints = [status.isRunning ? (.stop, "stop") : (.refresh, "refresh")]
        let isEmpty = entries.count == 0
        if !isEmpty { footing.hints.append((.open, selectedFolder == nil ? "view" : "open")) }
        if lists.folder != nil { footing.hints.append((.parentFolder, "up")) }
        if !isEmpty || lists.isFiltered { footing.hints.append((.search, "search")) }
        footing.hints.append((.help, "help"))
        // A waiting update can go on for hours, so this hint stays visible beside a long reason.
        if status.isRunning { footing.kept.insert(.stop) }
        // A running update needs the space for its progress bar.
        if !status.isRunning, !context.settings.plain, !isEmpty {
            footing.hints.append((.sheet, layout.kind == .list ? "sheet" : "list"))
        }
        return footing
    }

    /// The text in place of photos; nil if the list has photos.
    private var emptyText: EmptyText? {
        guard entries.count == 0 else { return nil }
        return EmptyText(
            gallery.status, isAwaited: context.wishes.isStanding(.list(cache.id)), isOffline: gallery.isOffline,
            isFiltered: results === lists.found, scopes: scopes, context.keys)
    }

    // MARK: - Commands

    override func perform(_ command: Command) -> Bool {
        lists.stopAwaiting()
        if let order = SortMenu.order(command) {
            sort(by: order)
            return true
        }
        switch command {
        case .open: openSelection()
        case .refresh: refresh()
        case .stop: context.wishes.stop(.list(cache.id))
        case .sort:
            search.stopWaiting()
            isSorting = true
        case .mark: mark(1)
        case .sheet: switchView()
        case .slideshow: showSlides()
        case .information: if let notice = pane.toggle() { send(.notice(notice)) }
        case _ where search.perform(command, selected: selected, in: scopes): break
        case _ where travel.perform(command, selected: selected): break
        case _ where PhotoActions.commands.contains(command): act(command)
        case _ where marking.perform(command, at: scroll.selected, selected, in: scopes): break
        default: return performMoving(command)
        }
        return true
    }

    override func perform(_ command: Command, _ argument: CommandArgument) -> Bool {
        switch (command, argument) {
        case (_, .text(let text)): return search.perform(command, text: text, selected: selected)
        case (.mark, .number(let count)): mark(count)
        case (.slideshow, .number(let seconds)): showSlides(seconds: seconds)
        default: return super.perform(command, argument)
        }
        return true
    }

    override func go(to index: Int) -> Bool { select(index: index) }

    override func follow(_ mouse: InputEvent.Mouse) -> Bool {
        focus === self ? followInList(mouse) : false
    }

    private func sort(by order: PhotoOrder?) {
        isSorting = false
        search.stopWaiting()
        if let order { lists.sort(by: order) }
    }

    /// Switches between list and contact sheet, and centres the selected photo.
    private func switchView() {
        guard !context.settings.plain else { return send(.notice("Plain mode has no contact sheet.")) }
        layout.switchKind()
        scroll.centreSelection()
    }

    private func changeSections() {
        // A single folder on the screen cannot be divided by folder.
        let byFolder = lists.path == nil && (try? lists.reader.hasFolders()) == true
        let rules: [SectionRule] =
            (lists.order.criterion == .date ? [.year, .month, .day] : []) + (byFolder ? [.folder] : []) + [.none]
        guard rules.count > 1 else { return send(.notice("For sections, first sort by date.")) }
        lists.divide(by: layout.nextSections(after: lists.sections, of: rules, entries) ?? lists.sections)
    }

    // MARK: - Selection

    var lines: ListLines { layout.lines(entries, count: scroll.count) }

    func selectionDidMove() {
        isChosen = true
        takeSelection()
    }

    private func takeSelection() { selected = entries[scroll.selected] }

    private func performMoving(_ command: Command) -> Bool {
        switch command {
        case .previousPhoto: scroll.select(scroll.selected - 1)
        case .nextPhoto: scroll.select(scroll.selected + 1)
        case .nextSection:
            guard let section = entries.section(at: scroll.selected) else { return true }
            scroll.select(section.upperBound)
        case .previousSection:
            guard let section = entries.section(at: scroll.selected) else { return true }
            let isAtStart = section.lowerBound == scroll.selected
            let before = isAtStart ? entries.section(at: scroll.selected - 1) : nil
            scroll.select(before?.lowerBound ?? section.lowerBound)
        case .divide:
            changeSections()
            return true
        default:
            guard layout.isSheet ? scroll.perform(command, in: lines) : scroll.perform(command) else { return false }
        }
        selectionDidMove()
        return true
    }

    private func select(_ entry: PhotoEntries.Entry) {
        (selected, isChosen) = (entry, true)
        if let index = entries.index(of: entry) { scroll.select(index) }
    }

    /// The id that the gallery's list gives to the selected photo.
    var selectedGalleryID: String? {
        selection.flatMap { try? lists.reader.photo($0) }?.galleryID
    }

    /// Selects the photo with this id in the gallery. Returns false if the list does not have the photo.
    func select(galleryID: String) -> Bool {
        guard let photo = try? lists.reader.photo(galleryID: galleryID), results.index(of: photo.key) != nil
        else { return false }
        select(.photo(photo.key))
        return true
    }

    /// Opens the screen of the selected photo, or goes into the selected folder.
    ///
    /// - Parameter fills: whether the photo fills the screen instead of fitting into it.
    func openSelection(fills: Bool = false) {
        search.stopWaiting()
        // In a long list that is still loading, the index may be unknown.
        if let folder = selectedFolder { return travel.enter(folder.path, from: selected) }
        guard let selection, results.index(of: selection) != nil || !results.isComplete else { return }
        isChosen = true
        send(.push(PhotoScreen(context, results: results, key: selection, delegate: self, fills: fills)))
    }

    /// Selects the photo that the photo screen now shows.
    func photoScreenDidShow(_ key: PhotoKey) { if results.index(of: key) != nil { select(.photo(key)) } }

    /// Continues to fetch a photo that the user leaves on the photo screen. After this call, the photo screen withdraws
    /// its own request.
    func photoScreenWillLeave(_ key: PhotoKey) { demand.finish(key) }

    /// Stops fetching photos that the user deletes.
    func forget(_ keys: [PhotoKey]) { demand.forget(keys) }

    /// Shows all photos again if a filter hides some, and selects a photo. After a search in folders or the slideshow
    /// of a folder, opens the photo's folder.
    func leaveFilter(toShow key: PhotoKey) {
        guard lists.isFiltered || results.index(of: key) == nil else { return search.leaveFilter() }
        let folder = lists.path == nil ? nil : (try? lists.reader.photo(key))?.folder
        if let folder { return travel.enter(folder, selecting: .photo(key)) }
        select(.photo(key))
        search.leaveFilter()
    }

    /// Shows the photos of all folders, without a filter.
    func showAll() { if lists.path != nil { lists.show(nil) } else { search.leaveFilter() } }

    // MARK: - Marks and actions

    /// Marks or unmarks `count` rows from the selected row on, and selects the next row.
    private func mark(_ count: Int) {
        guard let selected else { return }
        // In a long list that is still loading, the index may be unknown.
        guard let index = entries.index(of: selected) else { return marking.toggle(selected) }
        let rows = index..<index + min(count, entries.count - index)
        guard marking.toggle(rows) else { return }
        scroll.select(min(rows.upperBound, entries.count - 1))
        selectionDidMove()
    }

    private func act(_ command: Command) {
        isChosen = true
        marking.withTargets(selected) { [weak self, selected] photos in
            // Reading a large folder takes time. A late question must not take a key for another screen or a search.
            guard let self, isOnTop && focus === self || !PhotoActions.questions.contains(command) else { return }
            guard let keys = marking.ordered(photos, selected) else { return }
            PhotoActions(context, results: results, from: self).perform(command, on: keys)
        }
    }

    /// Starts a slideshow of the list, the marked photos or a folder.
    ///
    /// - Parameter seconds: the time for each photo, instead of the setting.
    private func showSlides(seconds: Int? = nil) {
        marking.withTargets(selected) { [weak self, selected] in
            if let self, isOnTop, focus === self { pushSlideshow($0, from: selected, seconds: seconds) }
        }
    }

    private func pushSlideshow(_ targets: KeySet, from selected: PhotoEntries.Entry?, seconds: Int?) {
        guard let keys = marking.ordered(targets, selected) else { return }
        // The list on the screen lacks the photos of a folder's row. It may lack marked photos, too.
        let lacksMarked = targets.count > 1 && lists.shown.ordered(targets).count < targets.count
        let includesAll = lacksMarked || selected.map { $0.photo == nil } ?? false
        let results = includesAll ? lists.all : results
        let slides = targets.count > 1 ? keys : []
        let count = slides.isEmpty ? results.count : slides.count
        let start = selected?.photo.flatMap { slides.isEmpty || slides.contains($0) ? $0 : nil }
        guard count > 1, let first = start ?? keys.first
        else { return send(.notice("There is no other photo to show.")) }
        search.stopWaiting()
        let screen = PhotoScreen(context, results: results, includesAll: includesAll, key: first, delegate: self)
        screen.beginSlideshow(over: slides, seconds: seconds)
        photoScreenDidShow(first)
        send(.push(screen))
    }

    /// Updates the gallery, and retries all failed requests.
    func refresh() { if let notice = gallery.refresh() { send(.notice(notice)) } }

    // MARK: - Events

    override func modelUpdated(_ update: ModelUpdate) {
        if case .results(let results, let difference) = update {
            if results === lists.all, difference.mayRemovePhotos { marking.dropGone() }
            lists.follow(difference, of: results)
        }
        switch update {
        case .lists(let lists) where lists === self.lists: showNewLists()
        case .results(let results, let difference) where results === self.results:
            applyDifference(difference)
            if let id = lists.takeArrived(), select(galleryID: id) { openSelection() }
            gallery.countErrors()
        // The heading may count the matches while the list shows all photos. The rows of folders show photos below.
        case .results(let results, _) where results === lists.found || !entries.folders.isEmpty: break
        case .gallery(cache.id):
            gallery.readRecord()
            gallery.countErrors()
        case .activity(let change) where change.hasFailures: gallery.countErrors()
        case .activity(let change) where change.galleries.contains(cache.id): break
        case .pictures: break
        default: return
        }
        if isOnTop { setNeedsDisplay() }
    }

    /// Shows new lists. The selection stays on its row, or moves to a match of the search. Until the user chooses a row
    /// or searches, the first row stays selected.
    private func showNewLists() {
        if let failure = lists.failure { return send(.notice(failure)) }
        marking.dropGone()
        scroll.setCount(entries.count)
        lists.endOpening()
        let known = isChosen || search.hasFoundSelection ? selected : nil
        selected =
            travel.takeTarget(in: entries) ?? search.selectionInNewLists(known) ?? known ?? entries[scroll.selected]
        let index = selected.flatMap { entries.index(of: $0) } ?? lists.indexOfFolder(containing: selection)
        scroll.select(index ?? (known.map { lists.isGone($0) } == true ? scroll.selected : 0))
        // In a long list that is still loading, the index may be unknown.
        if results.isComplete || index != nil { takeSelection() }
        if scroll.selected > 0 { isChosen = true }
    }

    /// Keeps the selection on its photo after a change of the list, or selects the next photo if the photo is gone. A
    /// selection that the user did not choose stays at the first row.
    private func applyDifference(_ difference: Difference) {
        let folders = entries.folders.count
        let index =
            isChosen
            ? selected.flatMap { entries.index(of: $0) }
                ?? folders + difference.indexFollowing(entries.photoIndex(scroll.selected), count: results.count)
            : 0
        scroll.setCount(entries.count)
        scroll.select(index)
        takeSelection()
        demand.dropUnfinished(results, lists.reader)
    }

    override func didAppear() {
        isOnTop = true
        gallery.countErrors()
    }

    override func didDisappear() {
        isOnTop = false
        demand.stopDrawing()
    }

    override func withdrawWishes() { demand.withdraw() }

    // MARK: - Drawing

    override func draw(in surface: inout Surface, frame: Rect) {
        let (photos, orders) = drawPhotos(in: &surface, frame)
        if isOnTop { demand.update(visible: photos, orders, scroll, entries) }
    }

    private func drawPhotos(in surface: inout Surface, _ frame: Rect) -> PhotoLayout.Drawn {
        var rest = frame
        scroll.beginDrawing()
        search.drawPrompt(in: &surface, &rest)
        let whole = rest
        let paneFrame = pane.takeSpace(&rest)
        guard entries.count > 0 else {
            emptyText?.draw(in: &surface, whole, context.theme)
            return ([], [])
        }
        let content = PhotoLayout.Content(
            entries: entries, selection: selected, marking: marking, opened: gallery.opened,
            matches: { [search] in search.matches(in: $0) })
        var (photos, orders) = layout.draw(content, &scroll, in: &surface, rest)
        if !context.settings.plain { scroll.drawBar(in: &surface, rest, context.theme) }
        if let paneFrame {
            orders += pane.draw(
                selection ?? selectedFolder?.cover, of: results, lists.reader, hasRule: !scroll.hasBar, in: &surface,
                paneFrame)
        }
        return (photos, orders)
    }

    // MARK: - Place

    /// The position to restore in the next run: the view and the selected photo.
    var place: Place { place(photo: selectedGalleryID) }

    /// A value that changes whenever ``place`` changes. Vitrine reads it in each frame, without the cache.
    struct PlaceMark: Equatable {
        let place: Place
        let selected: PhotoEntries.Entry?
    }

    var placeMark: PlaceMark { PlaceMark(place: place(photo: nil), selected: selected) }

    /// Returns the user's position. Leaves out an order and sections that the user did not choose for this gallery, or
    /// that equal the settings.
    private func place(photo: String?) -> Place {
        var place = Place(gallery: cache.address, photo: photo)
        if layout.kind == .sheet { place.view = .sheet }
        if lists.isOrderChosen, lists.order != context.settings.order { place.order = lists.order }
        if lists.areSectionsChosen, !lists.hasSections(asIn: context.settings) { place.sections = lists.sections }
        place.folder = lists.path
        if case .folder(let subfolder) = selected { place.subfolder = subfolder }
        if lists.purpose == .filtering, lists.filter != .all { place.filter = lists.filter.text }
        return place
    }
}
