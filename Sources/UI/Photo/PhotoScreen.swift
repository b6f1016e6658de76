import Cache
import Concurrency
import Session
import Cells
import Commands
import Model
import Pictures
import Text

/// One photo: all of it at first, then as large as one likes, and whichever side up; what it says of itself; and, one after
/// the other, those beside it.
@MainActor
final class PhotoScreen: Screen {
    /// The list that one goes through.
    private(set) var results: FetchedResults
    weak var delegate: PhotosScreen?
    private let wisher: Wishes.Wisher
    /// Photos that were opened though a password is wanted for them: see ``tryWhatAsks()``.
    private var opened: Set<PhotoKey> = []
    let client: PicturePipeline.Client
    private(set) var key: PhotoKey
    private(set) var photo: Photo?
    /// Kept when the photo is gone, to say of what.
    private(set) var name = ""
    var view: Viewport
    /// What was drawn last: it stays until there is something better, so that nothing goes blank on the way.
    var shown: Shown?
    /// By how many quarters the user has turned which photos.
    private var turns: [PhotoKey: Int] = [:]
    /// Where the user is going through the list: 1 onwards, -1 backwards. What comes next there is fetched and drawn before
    /// he is there.
    private(set) var travel = 1
    var panel = PhotoPanel()
    let slideshow: Slideshow
    let playback: Playback
    let arrival: ProgressivePreview
    /// Where the picture is, and what is said of it; where a mouse finds them.
    var pictureFrame = Rect(Size(columns: 0, rows: 0))
    var panelFrame = Rect(Size(columns: 0, rows: 0))
    /// Where the mouse has taken hold of the picture.
    var grip: Point?
    private(set) var isOnTop = false
    /// What of the list was to be seen in the last frame.
    var sight: Sight?
    /// Whether more of the photo was coming when that was last said.
    private var wasComing = false
    /// How far a photo has come is not told more often than one can read.
    private let pace: Throttle
    /// Whether a sync has removed the photo. It is found out behind another screen too, and left then when that has gone.
    private var isGone = false

    /// A picture on the screen, and what it is of.
    struct Shown {
        let picture: DrawnPicture
        /// Not always the photo that is looked at: until there is something of that, the one before stays.
        let key: PhotoKey
        /// Whether it is the photo itself, and not what stands for it.
        let isPhoto: Bool
        /// What it was drawn from.
        let order: PictureOrder
    }

    /// What there is to say of the photo.
    enum State {
        /// It is here, or what the cache has of it.
        case here
        /// It is on its way.
        case loading(Progress?)
        /// It, or its newer edition, cannot be had, or not be drawn.
        case failed(Failure)
    }

    init(_ context: ScreenContext, results: FetchedResults, key: PhotoKey, delegate: PhotosScreen) {
        self.results = results
        self.key = key
        self.delegate = delegate
        wisher = context.wishes.makeWisher()
        client = context.pipeline.makeClient()
        view = Viewport(size: Size(columns: 1, rows: 1), style: context.drawingStyle)
        slideshow = Slideshow(context)
        playback = Playback(context)
        arrival = ProgressivePreview(context)
        pace = Throttle(wait: context.wait)
        super.init(context)
        pace.action = { [weak self] in if self?.isOnTop == true { self?.setNeedsDisplay() } }
        slideshow.onDue = { [weak self] in self?.showNext() }
        playback.onDue = { [weak self] in self?.setNeedsDisplay() }
        arrival.onMore = { [weak self] in self?.setNeedsDisplay() }
        fetchPhoto()
    }

    var gallery: GalleryID { results.cache.id }
    var subject: Wish.Subject { subject(of: key) }
    func subject(of key: PhotoKey) -> Wish.Subject { .picture(gallery, key, .original) }

    // MARK: - What it says

    override var scopes: [CommandTable.Scope] {
        (panel.content == .everything ? [.fields] : []) + [.photo, .everywhere]
    }

    override var heading: Heading { headingOfPhoto }
    override var footing: Footing { footingOfPhoto }

    // MARK: - What happens

    override func perform(_ command: Command) -> Bool {
        if panel.perform(command) { return true }
        if command.movesPhoto { stopMoving() }
        let isWhole = view.zoom == .fit
        switch command {
        case .zoomIn: view.zoomIn()
        case .zoomOut: view.zoomOut()
        case .actualSize: view.zoomToActualSize()
        case .fit: view.zoomToFit()
        case .fill: view.zoomToFill()
        case .turnLeft: turn(by: -1)
        case .turnRight: turn(by: 1)
        case .left where isWhole, .previousPhoto: step(by: -1)
        case .right where isWhole, .nextPhoto: step(by: 1)
        case .left: view.pan(columns: -max(1, view.size.columns / 8), rows: 0)
        case .right: view.pan(columns: max(1, view.size.columns / 8), rows: 0)
        case .up: view.pan(columns: 0, rows: -max(1, view.size.rows / 8))
        case .down: view.pan(columns: 0, rows: max(1, view.size.rows / 8))
        case .slideshow: toggleSlideshow()
        case .play: togglePlaying()
        case .refresh: delegate?.refresh()
        case .stop: context.wishes.stop(.list(gallery))
        default: return act(on: command)
        }
        return true
    }

    override func perform(_ command: Command, _ argument: CommandArgument) -> Bool {
        if case .number(let number) = argument, let isObeyed = perform(command, number: number) { return isObeyed }
        return super.perform(command, argument)
    }

    override func go(to place: Int) -> Bool { goToPhoto(at: place) }

    override func follow(_ mouse: InputEvent.Mouse) -> Bool { followMouse(mouse) }

    private func turn(by quarters: Int) {
        view.turn(by: quarters)
        turns[key] = view.turns
    }

    func step(by amount: Int) {
        travel = amount.signum()
        if let index = results.index(of: key) { _ = go(to: index + amount) }
    }

    func show(_ next: PhotoKey) {
        leavePhoto()
        key = next
        grip = nil
        view = freshView(of: next)
        panel.beginAnew()
        arrival.beginAnew()
        playback.beginAnew()
        wasComing = false
        fetchPhoto()
        delegate?.photoScreenDidShow(key)
        stateWishes()
    }

    /// How a photo is looked at when one comes to it: whole, or filling the screen if the last one did.
    func freshView(of key: PhotoKey) -> Viewport {
        Viewport(
            size: view.size, style: view.style, zoom: view.zoom == .fill ? .fill : .fit, turns: turns[key] ?? 0)
    }

    private func toggleSlideshow() {
        slideshow.isRunning ? slideshow.stop() : startSlideshow()
    }

    /// - Parameter seconds: for each photo, if not as the user has set.
    func startSlideshow(seconds: Int? = nil) {
        guard results.count > 1 else { return send(.notice("There is no other photo to show.")) }
        beginSlideshow(over: slideshow.slides, seconds: seconds)
        stateWishes()
    }

    /// Begins to show photos one after the other: these, or if there are none all of the list.
    ///
    /// - Parameter seconds: for each photo, if not as the user has set.
    func beginSlideshow(over slides: [PhotoKey] = [], seconds: Int? = nil) {
        slideshow.start(over: slides, seconds: seconds)
        travel = 1
    }

    /// The user does something with the photo.
    func stopMoving() {
        slideshow.stop()
        playback.stop()
    }

    /// The slideshow goes on.
    private func showNext() {
        guard isOnTop, let next = upcoming.first else { return }
        show(next)
        setNeedsDisplay()
    }

    /// The photos that will be looked at next, if the user goes on as he does.
    var upcoming: [PhotoKey] {
        if slideshow.isRunning, !slideshow.slides.isEmpty {
            return slideshow.slides(after: key, limit: 2).filter { results.index(of: $0) != nil }
        }
        guard let index = results.index(of: key) else { return [] }
        let places =
            slideshow.isRunning
            ? slideshow.places(after: index, of: results.count, limit: 2) : [index + travel, index + 2 * travel]
        return places.compactMap { results.key(at: $0) }
    }

    /// The clock of the slideshow runs for what is seen, and for what will never be.
    func noteFrame() {
        let isDrawn = shown.map { $0.key == key && $0.isPhoto } ?? false
        let isSeen = context.settings.plain ? photo?.original.held != nil : isDrawn
        if case .failed = state { return slideshow.noteSeen(key) }
        isSeen ? slideshow.noteSeen(key) : slideshow.noteWaiting()
    }

    override func modelUpdated(_ update: ModelUpdate) {
        switch update {
        case .results(let results, _) where results === self.results:
            fetchPhoto()
            isGone = photo == nil
            if isGone { return leaveIfGone() }
            if isOnTop { stateWishes() }
            guard currentSight != sight else { return }
        case .lists(let lists) where lists === delegate?.lists:
            guard lists.shown !== results else { return }
            results = lists.shown
            fetchPhoto()
            if isOnTop { stateWishes() }
        case .activity(let change) where change.pictures.contains(subject):
            if photo?.original.held == nil { arrival.note(context.activity.progress(of: subject)) }
            // When it begins and when it ends is said at once.
            let isComing = context.activity.progress(of: subject) != nil
            if isComing, wasComing { return pace.signal() }
            wasComing = isComing
        case .pictures(let orders) where orders.contains { $0.subject == subject || $0.subject == thumbnail }: break
        default: return
        }
        if isOnTop { setNeedsDisplay() }
    }

    private var thumbnail: Wish.Subject { .picture(gallery, key, .thumbnail) }

    /// A sync has removed the photo from under our eyes.
    private func leaveIfGone() {
        guard isGone, isOnTop else { return }
        send(.back)
        send(.notice("“\(name.madeVisible)” is no longer in the gallery."))
    }

    /// Left before it has arrived, it is still wanted, but not before anything else.
    private func leavePhoto() {
        if photo?.original.isCurrent == false { delegate?.photoScreenWillLeave(key) }
    }

    /// Reads the photo's row. If that fails, what was known of it stays: the row may be there all the same.
    private func fetchPhoto() {
        do {
            photo = try results.photo(key)
            if let photo { name = photo.name }
        } catch {
            context.log.error(.cache, "\(error)")
        }
    }

    override func didAppear() {
        isOnTop = true
        guard !isGone else { return leaveIfGone() }
        stateWishes()
    }

    override func didDisappear() {
        isOnTop = false
        grip = nil
        slideshow.noteWaiting()
        playback.noteWaiting()
        context.pipeline.want([], by: client)
    }

    override func withdrawWishes() {
        leavePhoto()
        context.wishes.withdraw(wisher)
    }

    /// What is looked at, and behind it what will be next.
    private func stateWishes() {
        tryWhatAsks()
        let near = upcoming.filter { $0 != key }.map { Wish(subject(of: $0), importance: .near) }
        let asking = opened.contains(key) ? [Wish(thumbnail, importance: .lookedAt)] : []
        context.wishes.state([Wish(subject, importance: .lookedAt)] + asking + near, by: wisher)
    }

    /// Has a photo tried again that another server than the gallery's wants a password for: now that the user looks at it, he is
    /// asked. Once for each photo.
    private func tryWhatAsks() {
        let failures = [photo?.original.trouble, photo?.thumbnail.trouble].compactMap(\.self).map(\.failure)
        guard failures.contains(where: \.isAskedOnOpening), opened.insert(key).inserted else { return }
        Task { [key, writer = results.cache.writer, log = context.log] in
            do { try await writer.retry([key]) } catch { log.error(.cache, "\(error)") }
        }
    }

    // MARK: - How it looks

    override func draw(in surface: inout Surface, frame: Rect) {
        drawAll(in: &surface, frame)
    }
}
