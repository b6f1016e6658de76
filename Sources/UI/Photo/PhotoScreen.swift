import Cache
import Cells
import Commands
import Concurrency
import Model
import Pictures
import Session
import Text

/// The screen of one photo, with zoom, rotation, facts, animation and slideshow.
///
/// The screen follows changes of the photos screen's list. ``PhotoPicture`` draws the photo, and ``PhotoPanel`` draws
/// the facts.
@MainActor
final class PhotoScreen: Screen {
    /// The photo's picture. The root screen reads the picture's zoom, to restore the zoom in the next run.
    let picture: PhotoPicture

    private var results: FetchedResults
    /// Whether the list has all photos, even if the photos screen shows a folder or a filter's matches.
    private let includesAll: Bool
    private weak var delegate: PhotosScreen?
    private var key: PhotoKey
    /// The photo's entry in the cache, or nil if the gallery no longer has the photo.
    private var photo: Photo?
    /// The photo's name, kept even when the gallery no longer has the photo.
    private var name = ""
    private var panel = PhotoPanel()
    private let slideshow: Slideshow
    /// The user's direction through the list, 1 or -1. Vitrine fetches and draws the next photos in this direction.
    private var travel = 1
    private var pictureFrame = Rect(Size(columns: 0, rows: 0))
    /// The cell under the mouse while the user drags the picture.
    private var grip: Point?
    private var isOnTop = false
    /// The part of the list that the last frame showed.
    private var sight: Sight?
    /// Whether Vitrine was receiving the photo at the last progress event.
    private var wasReceiving = false
    /// Limits how often progress of the transfer redraws the screen.
    private let throttle: Throttle
    /// Whether an update removed the photo. After such an update, the screen closes when no other screen covers it.
    private var isGone = false
    /// The photos that Vitrine retried because the user opened them; see ``retryOnOpening()``.
    private var retried: Set<PhotoKey> = []
    private let wisher: Wishes.Wisher
    private let client: PicturePipeline.Client

    /// The part of the list that a frame shows. If this value has not changed, no new frame is needed.
    private struct Sight: Equatable {
        let photo: Photo?
        let index: Int?
        let count: Int
        /// The photos to draw in advance.
        let neighbours: [Photo]
    }

    /// Creates the screen of a photo.
    ///
    /// - Parameters:
    ///   - includesAll: whether the list keeps all photos when the photos screen shows a folder or a filter's matches.
    ///   - fills: whether the photo fills the screen instead of fitting into it.
    init(
        _ context: ScreenContext, results: FetchedResults, includesAll: Bool = false, key: PhotoKey,
        delegate: PhotosScreen, fills: Bool = false
    ) {
        self.results = results
        self.includesAll = includesAll
        self.key = key
        self.delegate = delegate
        picture = PhotoPicture(key, in: results.cache.id, context)
        slideshow = Slideshow(context)
        throttle = Throttle(wait: context.wait)
        wisher = context.wishes.makeWisher()
        client = context.pipeline.makeClient()
        super.init(context)
        throttle.action = { [weak self] in if self?.isOnTop == true { self?.setNeedsDisplay() } }
        slideshow.onDue = { [weak self] in self?.showNext() }
        picture.onChange = { [weak self] in self?.setNeedsDisplay() }
        picture.onFailure = { [weak self] in self?.send(.notice($0)) }
        if fills { picture.view.zoomToFill() }
        readPhoto()
    }

    private var gallery: GalleryID { results.cache.id }
    private var subject: Wish.Subject { subject(of: key) }
    private var thumbnail: Wish.Subject { .picture(gallery, key, .thumbnail) }
    private func subject(of key: PhotoKey) -> Wish.Subject { .picture(gallery, key, .original) }

    /// The id that the gallery's list gives to the photo; nil if the gallery no longer has the photo.
    var galleryID: String? { photo?.galleryID }

    /// The area of the photo's facts. In plain mode, the cursor leads screen readers to this area.
    var panelFrame: Rect { panel.frame }

    // MARK: - Texts

    override var scopes: [CommandTable.Scope] {
        (panel.content == .everything ? [.fields] : []) + [.photo, .everywhere]
    }

    override var commandScopes: [CommandTable.Scope] { scopes + [.rating] }
    override var actedOn: PhotoEntries.Entry? { .photo(key) }

    override var heading: Heading {
        var detail: [String] = []
        if let index = results.index(of: key) { detail.append(CountText.text(index + 1, of: results.count)) }
        if photo?.original.held != nil, let percent = picture.view.percent {
            detail.append(picture.view.zoom == .fit ? "fit" : picture.view.zoom == .fill ? "fill" : "\(percent) %")
        }
        detail.append(photo.map { RatingText.text($0.rating, isPlain: !context.capabilities.unicode) } ?? "")
        detail += [slideshow.isRunning ? "slideshow" : "", picture.isPlaying ? "playing" : ""]
        return Heading(title: name, detail: detail.filter { !$0.isEmpty }.joined(separator: " · "))
    }

    override var footing: Footing { status.footing(isSlideshow: slideshow.isRunning, keysIn: scopes) }

    private var status: PhotoStatus { PhotoStatus(photo, subject, picture, context) }

    /// Whether no part of a picture is hidden. The percentage is unknown until the photo itself has been drawn.
    private var isWhole: Bool {
        picture.view.isWhole || context.settings.plain || (picture.view.percent == nil && status.hasNoPictureComing)
    }

    // MARK: - Commands

    /// The commands that change only how the picture looks.
    private static let pictureCommands: Set<Command> = [
        .zoomIn, .zoomOut, .actualSize, .fit, .fill, .turnLeft, .turnRight,
    ]

    override func perform(_ command: Command) -> Bool {
        if panel.perform(command) { return true }
        if context.settings.plain, Self.pictureCommands.contains(command) {
            send(.notice("Plain mode shows no pictures."))
            return true
        }
        if command.movesPhoto { stopMoving() }
        switch command {
        case .zoomIn: picture.view.zoomIn()
        case .zoomOut: picture.view.zoomOut()
        case .actualSize: picture.view.zoomToActualSize()
        case .fit: picture.view.zoomToFit()
        case .fill: picture.view.zoomToFill()
        case .turnLeft: picture.turn(by: -1)
        case .turnRight: picture.turn(by: 1)
        case .left where isWhole, .previousPhoto: step(by: -1)
        case .right where isWhole, .nextPhoto: step(by: 1)
        case .left: picture.view.step(columns: -1, rows: 0)
        case .right: picture.view.step(columns: 1, rows: 0)
        case .up: picture.view.step(columns: 0, rows: -1)
        case .down: picture.view.step(columns: 0, rows: 1)
        case .slideshow: slideshow.isRunning ? slideshow.stop() : startSlideshow()
        case .play: togglePlaying()
        case .refresh: delegate?.refresh()
        case .stop: context.wishes.stop(.list(gallery))
        case .showInList:
            delegate?.leaveFilter(toShow: key)
            send(.back)
        case .delete: delete()
        case _ where PhotoActions.commands.contains(command):
            PhotoActions(context, results: results, from: self).perform(command, on: [key])
        default: return false
        }
        return true
    }

    override func perform(_ command: Command, _ argument: CommandArgument) -> Bool {
        guard case .number(let number) = argument, let done = perform(command, number: number) else {
            return super.perform(command, argument)
        }
        return done
    }

    /// Performs a command to which a number gives another meaning. Returns nil for other commands.
    private func perform(_ command: Command, number: Int) -> Bool? {
        switch command {
        case .first, .last:
            guard panel.goTo(line: number - 1) else { return nil }
            return true
        case .slideshow: startSlideshow(seconds: number)
        // Go straight to the target photo, and do not fetch the photos on the way.
        case .left where isWhole, .previousPhoto: step(by: -number)
        case .right where isWhole, .nextPhoto: step(by: number)
        default: return nil
        }
        if command.movesPhoto { stopMoving() }
        return true
    }

    /// Leaves the screen, and then deletes the photo from the cache. An open screen would fetch the photo again at
    /// once.
    private func delete() {
        guard let delegate, let photo, photo.original.held != nil, !photo.isInPlace else {
            return send(.notice("Nothing to delete: the photo is not cached."))
        }
        send(.back)
        PhotoActions(context, results: results, from: delegate).perform(.delete, on: [key])
    }

    private func togglePlaying() {
        if picture.isPlaying { return picture.stop() }
        guard let photo, !context.settings.plain, picture.canPlay(photo) else {
            return send(.notice(status.unplayable))
        }
        let metadata = try? delegate?.lists.reader.metadata(of: key)
        picture.play(photo, frameRate: metadata?.metadata.frameRate)
    }

    /// Zooms with the mouse wheel, around the mouse, and drags the picture with a mouse button.
    override func follow(_ mouse: InputEvent.Mouse) -> Bool {
        if panel.frame.contains(mouse.position) { return panel.follow(mouse) }
        let position = Point(
            column: mouse.position.column - pictureFrame.origin.column,
            row: mouse.position.row - pictureFrame.origin.row)
        switch mouse.action {
        case .wheelUp: picture.view.zoomIn(around: position)
        case .wheelDown: picture.view.zoomOut(around: position)
        case .press(1):
            grip = mouse.position
            return false
        case .drag(1):
            guard let grip else { return false }
            picture.view.pan(columns: grip.column - mouse.position.column, rows: grip.row - mouse.position.row)
            self.grip = mouse.position
        case .release:
            grip = nil
            return false
        default: return false
        }
        stopMoving()
        return true
    }

    // MARK: - Going through the list

    /// Shows the photo at an index of the list, or at the nearest index.
    override func go(to index: Int) -> Bool {
        stopMoving()
        guard let next = results.key(at: max(0, min(index, results.count - 1))) else { return false }
        if next != key { show(next) }
        return true
    }

    private func step(by amount: Int) {
        travel = amount.signum()
        guard let origin = results.stepOrigin(of: key, by: amount) else { return }
        let index = max(0, min(origin + amount, results.count - 1))
        // With no further match in this direction, a photo that the filter excludes stays on the screen.
        if index != origin { _ = go(to: index) }
    }

    private func show(_ next: PhotoKey) {
        finishIfLoading()
        key = next
        grip = nil
        picture.change(to: next)
        panel.scrollToTop()
        wasReceiving = false
        readPhoto()
        delegate?.photoScreenDidShow(key)
        updateWishes()
    }

    private func startSlideshow(seconds: Int? = nil) {
        let own = results.index(of: key) == nil ? 0 : 1
        guard results.count > own else { return send(.notice("There is no other photo to show.")) }
        beginSlideshow(over: slideshow.slides, seconds: seconds)
        updateWishes()
    }

    /// Starts a slideshow of some photos, or of the whole list.
    ///
    /// - Parameter seconds: the time for each photo, instead of the setting.
    func beginSlideshow(over slides: [PhotoKey] = [], seconds: Int? = nil) {
        slideshow.start(over: slides, seconds: seconds)
        travel = 1
    }

    /// Stops the slideshow and the animation, because the user moves the photo.
    private func stopMoving() {
        slideshow.stop()
        picture.stop()
    }

    private func showNext() {
        guard isOnTop, let next = upcoming.first else { return }
        show(next)
        setNeedsDisplay()
    }

    /// The next two photos: of the slideshow if one runs, otherwise of the list in the current direction.
    private var upcoming: [PhotoKey] {
        if slideshow.isRunning, !slideshow.slides.isEmpty {
            return slideshow.slides(after: key, limit: 2) { $0 != key && results.index(of: $0) != nil }
        }
        // A filter may exclude the open photo after a rating, and leave a single other photo for the slideshow.
        if slideshow.isRunning, results.count == 1, results.index(of: key) == nil {
            return [results.key(at: 0)].compactMap { $0 }
        }
        guard let origin = results.stepOrigin(of: key, by: slideshow.isRunning ? 1 : travel) else { return [] }
        let indexes =
            slideshow.isRunning
            ? slideshow.indexes(after: origin, of: results.count, limit: 2) : [origin + travel, origin + 2 * travel]
        return indexes.compactMap { results.key(at: $0) }
    }

    private var currentSight: Sight {
        let previous = results.stepOrigin(of: key, by: -travel).flatMap { results.key(at: $0 - travel) }
        let neighbours = (upcoming + [previous].compactMap { $0 }).compactMap { try? results.photo($0) }
        return Sight(photo: photo, index: results.index(of: key), count: results.count, neighbours: neighbours)
    }

    // MARK: - Events

    override func modelUpdated(_ update: ModelUpdate) {
        switch update {
        // The list of all photos reports changes of a photo that the filter no longer contains.
        case .results(let results, _) where results.cache.id == gallery:
            readPhoto()
            isGone = photo == nil
            if isGone { return leaveIfGone() }
            if isOnTop { updateWishes() }
            guard currentSight != sight else { return }
        case .lists(let lists) where lists === delegate?.lists:
            let newer = includesAll ? lists.all : lists.shown
            guard newer !== results else { return }
            results = newer
            readPhoto()
            if isOnTop { updateWishes() }
        case .activity(let change) where change.pictures.contains(subject):
            let progress = context.activity.progress(of: subject)
            if photo?.original.held == nil { picture.setProgress(progress) }
            // The first and the last progress event redraw at once.
            if progress != nil, wasReceiving { return throttle.signal() }
            wasReceiving = progress != nil
        case .activity(let change) where change.failures.contains(subject): break
        case .pictures(let orders) where orders.contains { [subject, thumbnail].contains($0.subject) }: break
        default: return
        }
        if isOnTop { setNeedsDisplay() }
    }

    private func leaveIfGone() {
        guard isGone, isOnTop else { return }
        send(.back)
        send(.notice("“\(name.madeVisible)” is no longer in the gallery."))
    }

    /// Reads the photo's entry from the cache. After a failure, the previous entry stays.
    private func readPhoto() {
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
        updateWishes()
    }

    override func didDisappear() {
        isOnTop = false
        grip = nil
        slideshow.stopClock()
        picture.stopClock()
        context.pipeline.want([], by: client)
    }

    // MARK: - Wishes

    /// Requests the photo and, with less importance, the next photos.
    private func updateWishes() {
        retryOnOpening()
        let near = upcoming.filter { $0 != key && isFetchedUnasked($0) }
            .map { Wish(subject(of: $0), importance: .near) }
        let own = photo?.isRemoteVideo == true ? [] : [Wish(subject, importance: .lookedAt)]
        let retry = retried.contains(key) ? [Wish(thumbnail, importance: .lookedAt)] : []
        context.wishes.state(own + retry + near, by: wisher)
    }

    /// Returns whether Vitrine fetches a photo in advance. Videos on a server may be too large.
    private func isFetchedUnasked(_ key: PhotoKey) -> Bool { (try? results.photo(key))?.isRemoteVideo != true }

    override func withdrawWishes() {
        finishIfLoading()
        context.wishes.withdraw(wisher)
    }

    /// Makes the photos screen continue to fetch a photo that has not arrived.
    private func finishIfLoading() {
        if let photo, !photo.original.isCurrent, !photo.isRemoteVideo { delegate?.photoScreenWillLeave(key) }
    }

    /// Retries a photo once if its server wants a password, so that Vitrine asks the user for the password. Also
    /// retries a local file once, because the file or its disk may be back.
    private func retryOnOpening() {
        guard let photo, !retried.contains(key) else { return }
        let failures = [photo.original.trouble, photo.thumbnail.trouble].compactMap(\.self).map(\.failure)
        let isUnreadFile = photo.original.trouble != nil && !photo.original.isCurrent && results.cache.isLocal(key)
        guard isUnreadFile || failures.contains(where: \.isAskedOnOpening) else { return }
        retried.insert(key)
        Task { [key, writer = results.cache.writer, log = context.log] in
            do { try await writer.retry([key]) } catch { log.error(.cache, "\(error)") }
        }
    }

    // MARK: - Drawing

    override func draw(in surface: inout Surface, frame: Rect) {
        guard !context.settings.plain else { return drawPlain(in: &surface, frame) }
        var rest = frame
        panel.takeSpace(&rest)
        pictureFrame = rest
        picture.view.size = rest.size
        picture.view.style = context.drawingStyle
        let sight = currentSight
        self.sight = sight
        let orders = photo.map { picture.update($0, sight.neighbours, isExamined: panel.content != .none) } ?? []
        if isOnTop { context.pipeline.want(orders, by: client, importance: .lookedAt) }
        let status = status
        if status.hasNoPictureComing { picture.removeForeign() }
        picture.draw(in: &surface, rest)
        status.draw(in: &surface, rest)
        drawPanel(in: &surface)
        if isOnTop {
            updateSlideshowClock()
            picture.frameWasDrawn(photo)
        }
    }

    /// Draws the photo's facts in place of the picture, for plain mode.
    private func drawPlain(in surface: inout Surface, _ frame: Rect) {
        pictureFrame = Rect(Size(columns: 0, rows: 0))
        panel.takeAll(frame)
        let orders = photo.map { $0.original.held == nil ? [] : [PictureOrder.examination(of: $0, in: gallery)] } ?? []
        if isOnTop { context.pipeline.want(orders, by: client, importance: .lookedAt) }
        drawPanel(in: &surface)
        if isOnTop { updateSlideshowClock() }
    }

    /// Runs the slideshow's clock while the photo is visible or has failed.
    private func updateSlideshowClock() {
        if status.hasNoPictureComing { return slideshow.startClock(for: key) }
        (context.settings.plain ? photo?.original.held != nil : picture.isPhotoShown)
            ? slideshow.startClock(for: key) : slideshow.stopClock()
    }

    private func drawPanel(in surface: inout Surface) {
        guard let photo, panel.isVisible else { return }
        let order = PictureOrder.examination(of: photo, in: gallery)
        let examination = photo.original.held == nil ? nil : context.pipeline.examination(order)
        let reader = delegate?.lists.reader
        let stored = try? reader?.metadata(of: photo.key)
        let report = PhotoReport(
            photo: photo, metadata: PhotoLook(gallery: gallery).metadata(of: photo, stored, examination),
            annotationsIn: reader, fields: examination?.fields ?? [], hasUnicode: context.capabilities.unicode)
        panel.draw(report, examination?.histogram, context, in: &surface)
    }
}
