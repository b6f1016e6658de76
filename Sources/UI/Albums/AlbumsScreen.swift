import Cache
import Cells
import Commands
import Model
import Pictures
import Session
import Text

/// The screen with the albums, people, tags and favourites of a gallery's server.
///
/// The screen shows the cached albums at once, and requests an update. Each album opens as a gallery.
@MainActor
final class AlbumsScreen: Screen, ListScreen {
    /// The scrolling state. Not private because ``ListScreen`` changes this state.
    var scroll = ListScroll()
    private let cache: GalleryCache
    private let reader: CacheReader
    private let search: ListSearch
    private var list = AlbumList()
    /// The selected album. The selection stays on this album when the list changes.
    private var selected: Address?
    private var isOnTop = false
    private let wisher: Wishes.Wisher
    private let client: PicturePipeline.Client
    private var subscriptions: [UpdateFeed.Subscription] = []
    /// Whether the last snapshot of the wishes requested the albums.
    private var isAwaited = false

    /// Opens the albums of a gallery's server. Throws ``AlbumsRefusal`` if Vitrine cannot list them.
    init(_ context: ScreenContext, of gallery: Address) throws {
        switch context.caches.record(of: gallery)?.kind {
        case nil: throw AlbumsRefusal.unknownKind
        case let kind?: guard kind.canListAlbums else { throw AlbumsRefusal.notListable }
        }
        cache = try context.caches.open(gallery)
        let changes = cache.changes()
        reader = try cache.openReader()
        search = ListSearch(context)
        wisher = context.wishes.makeWisher()
        client = context.pipeline.makeClient()
        super.init(context)
        let id = cache.id
        subscriptions = [
            context.feed.follow(changes) { change in
                let areChanged = change["album"] != nil || change["gallery"] != nil
                return areChanged || change["photo"] != nil ? .albums(id, areChanged: areChanged) : nil
            },
            context.feed.follow(context.wishes.snapshots()) { [weak self] in self?.wishesChanged($0) },
        ]
        search.next = self
        search.onFind = { [weak self, reader] text in
            (try? reader.matches(of: text, in: self?.list.albums.map(\.name) ?? [])) ?? []
        }
        search.onSelect = { [weak self] in _ = self?.select(index: $0) }
        readList()
        askForUpdate()
    }

    private var subject: Wish.Subject { .albums(cache.id) }

    // MARK: - Lines

    override var shownGallery: Address? { cache.address }
    override var scopes: [CommandTable.Scope] { [.albums, .lists, .everywhere] }
    override var focus: Responder { search.focus ?? self }

    override var heading: Heading {
        let standing = scroll.isEmpty ? nil : CountText.text(scroll.selected + 1, of: scroll.count)
        let match = search.headingText(scroll.selected)
        return Heading(
            title: "Albums of \(context.title(of: cache.address).madeVisible)", shorterTitles: ["Albums"],
            detail: [standing, match].compactMap { $0 }.joined(separator: " · "), brief: match ?? standing ?? "")
    }

    override var footing: Footing {
        if let text = search.typingText { return Footing(text: text) }
        let texts = texts
        var footing = Footing(text: scroll.isEmpty ? "" : texts.status, isTrouble: texts.isTrouble)
        if !scroll.isEmpty { footing.brief = texts.brief }
        footing.hints = [isRunning ? (.stop, "stop") : (.refresh, "refresh")]
        if !scroll.isEmpty { footing.hints += [(.open, "open"), (.search, "search")] }
        footing.hints.append((.help, "help"))
        return footing
    }

    private var isRunning: Bool {
        context.activity.isReadingAlbums(of: cache.id) || context.wishes.isStanding(subject)
    }

    private var texts: AlbumTexts {
        let failure = context.activity.failures.first { $0.subject == subject }
        return AlbumTexts(
            list, isReading: context.activity.isReadingAlbums(of: cache.id),
            isAwaited: context.wishes.isStanding(subject), retry: failure?.next,
            isOffline: context.settings.offline, now: context.now())
    }

    // MARK: - Input

    override func perform(_ command: Command) -> Bool {
        switch command {
        case .open: if let selected { send(.openAlbum(selected)) }
        case .refresh: refresh()
        case .stop: context.wishes.stop(subject)
        case _ where search.perform(command, selection: scroll.selected, in: scopes): break
        default:
            guard scroll.perform(command) else { return false }
            selectionDidMove()
        }
        return true
    }

    override func perform(_ command: Command, _ argument: CommandArgument) -> Bool {
        guard case (.search, .text(let text)) = (command, argument) else { return super.perform(command, argument) }
        search.search(text, selection: scroll.selected)
        return true
    }

    override func go(to index: Int) -> Bool { select(index: index) }

    override func follow(_ mouse: InputEvent.Mouse) -> Bool { focus === self ? followInList(mouse) : false }

    func selectionDidMove() {
        selected = list.albums.indices.contains(scroll.selected) ? list.albums[scroll.selected].address : nil
    }

    // MARK: - Updates

    private func askForUpdate() {
        if !context.settings.offline { context.wishes.ask(for: subject) }
    }

    private func refresh() {
        guard !context.settings.offline else { return send(.notice("Offline: type “:set offline no” to refresh.")) }
        context.retry(cache.id)
        context.wishes.retry([subject])
        askForUpdate()
    }

    /// Requests the albums again, because the user has signed in to the server of a gallery.
    func signedIn(_ gallery: GalleryID) {
        guard gallery == cache.id else { return }
        Task { [weak self, wishes = context.wishes, subject] in
            // The refused request must end first. Otherwise the new request would be merged with it.
            for await snapshot in wishes.snapshots() where snapshot.asked[subject] == nil { break }
            self?.askForUpdate()
        }
    }

    /// Redraws the screen if a request for the albums began or ended. It may end after the reading.
    private func wishesChanged(_ snapshot: Wishes.Snapshot) -> ModelUpdate? {
        guard (snapshot.asked[subject] != nil) != isAwaited else { return nil }
        isAwaited.toggle()
        return .albums(cache.id, areChanged: false)
    }

    private func readList() {
        let former = list.albums
        do {
            list = try reader.albums(where: cache.isNamedByUser)
        } catch {
            context.log.error(.cache, "\(error)")
            return
        }
        for album in list.albums { context.galleryNames[album.address] = album.name.madeVisible }
        search.update { index in
            let address = former.indices.contains(index) ? former[index].address : nil
            return list.albums.firstIndex { $0.address == address }
        }
        scroll.setCount(list.albums.count)
        if let index = list.albums.firstIndex(where: { $0.address == selected }) { scroll.select(index) }
        selectionDidMove()
    }

    override func modelUpdated(_ update: ModelUpdate) {
        switch update {
        case .albums(cache.id, let areChanged): if areChanged { readList() }
        case .activity(let change) where change.hasFailures || change.galleries.contains(cache.id): break
        case .pictures: break
        default: return
        }
        if isOnTop { setNeedsDisplay() }
    }

    override func didAppear() { isOnTop = true }

    override func didDisappear() {
        isOnTop = false
        context.pipeline.want([], by: client)
    }

    override func withdrawWishes() { context.wishes.withdraw(wisher) }

    // MARK: - Drawing

    /// Returns the byte ranges of a name that match the search.
    private func matches(in name: String) -> [Range<Int>] {
        guard !search.text.isEmpty, (try? reader.matches(of: search.text, in: [name])) == [0] else { return [] }
        return (try? reader.marks(of: PhotoFilter(search.text), in: name)) ?? []
    }

    override func draw(in surface: inout Surface, frame: Rect) {
        var rest = frame
        scroll.beginDrawing()
        search.drawPrompt(in: &surface, &rest)
        guard !scroll.isEmpty else {
            return texts.emptyText { context.name(of: $0, in: scopes) }.draw(in: &surface, rest, context.theme)
        }
        let row = PhotoRow(
            in: rest.size, wantedHeight: context.settings.rowHeight,
            hasPictures: list.albums.contains { $0.cover != nil }, isInLetters: context.drawingStyle.isInLetters,
            theme: context.theme, capabilities: context.capabilities)
        scroll.setVisible(rest.size.rows / row.height)
        if !context.settings.plain { scroll.drawBar(in: &surface, rest, context.theme) }
        var covers: [PhotoKey] = []
        var orders: [PictureOrder] = []
        for index in scroll.window {
            let album = list.albums[index]
            let line = rest.takeTop(row.height)
            scroll.setFrame(line, of: index)
            let cover = album.cover.flatMap { try? reader.photo(galleryID: $0) }
            if let cover { covers.append(cover.key) }
            row.draw(
                album, cover: cover,
                cover.flatMap { context.thumbnail(of: $0, in: cache.id, row.thumbnailSize, &orders) },
                matches: matches(in: album.name), isSelected: index == scroll.selected, in: &surface,
                frame: line)
        }
        guard isOnTop else { return }
        context.pipeline.want(orders, by: client)
        context.wishes.state(
            covers.map { Wish(.picture(cache.id, $0, .thumbnail), importance: .visible) }, by: wisher)
    }
}

/// The reason why a gallery has no albums screen.
enum AlbumsRefusal: Error, CustomStringConvertible {
    /// The gallery was never updated.
    case unknownKind
    /// Vitrine cannot list the albums of this kind of server.
    case notListable

    /// The reason as a sentence for the user.
    var description: String {
        switch self {
        case .unknownKind: "Open this gallery first: Vitrine does not know yet whether its server has albums."
        case .notListable: "Vitrine lists albums only of Immich, Nextcloud, PhotoPrism and Piwigo servers."
        }
    }
}

/// Texts about the update of the albums, for the status line and an empty list.
struct AlbumTexts {
    /// The text for the status line.
    let status: String
    /// The text for a narrow window; nil if there is no shorter one.
    let brief: String?
    /// Whether the text reports a problem.
    let isTrouble: Bool
    private let title: String
    private let advice: [Advice]

    /// A sentence below the title of an empty list.
    private enum Advice {
        case again, cancel, check, fetch, isOffline, restart
    }

    /// - Parameters:
    ///   - isReading: whether the albums are being read.
    ///   - isAwaited: whether the albums were requested and have not arrived.
    ///   - retry: the time of the next attempt after a failure; nil if there is none.
    init(
        _ list: AlbumList, isReading: Bool, isAwaited: Bool, retry: Timestamp?, isOffline: Bool, now: Timestamp
    ) {
        let success = list.lastSuccess.map { "Updated: " + DateText.short($0) }
        let reason = list.trouble.map { $0.prefix(1).uppercased() + $0.dropFirst() }
        isTrouble = !isReading && list.trouble != nil
        if isReading {
            (status, brief) = ("Updating…", nil)
        } else {
            let retry =
                isAwaited && reason != nil ? retry.map { "Retry at \(DateText.minute($0, now: now))" } : nil
            let parts = [retry, reason, success].compactMap { $0 }
            status = parts.isEmpty ? "Not updated" : parts.joined(separator: " · ")
            brief = reason.map { [retry, $0].compactMap { $0 }.joined(separator: " · ") }
        }
        let again = isOffline ? Advice.isOffline : .again
        switch (reason, list.lastSuccess) {
        case _ where isReading: (title, advice) = ("Fetching the albums…", [.cancel])
        case (let reason?, _): (title, advice) = (reason, [again])
        case (nil, _?): (title, advice) = ("This server lists no albums.", [isOffline ? .isOffline : .check])
        case (nil, nil) where isAwaited: (title, advice) = ("Fetching the albums…", [])
        case (nil, nil) where isOffline: (title, advice) = ("The albums are not in the cache", [.isOffline, .restart])
        case (nil, nil): (title, advice) = ("Albums not fetched yet", [.fetch])
        }
    }

    /// Returns the text in place of an empty list.
    ///
    /// - Parameter key: returns the key of a command.
    @MainActor
    func emptyText(_ key: (Command) -> String) -> EmptyText {
        EmptyText(
            title: title,
            advice: advice.map { advice in
                switch advice {
                case .again: "Press \(key(.refresh)) to try again."
                case .cancel: "Press \(key(.stop)) to cancel."
                case .fetch: "Press \(key(.refresh)) to fetch the albums."
                case .check: "Press \(key(.refresh)) to check for albums."
                case .isOffline: "Vitrine is offline and fetches nothing."
                case .restart: "Type “:set offline no” to fetch the albums."
                }
            })
    }
}
