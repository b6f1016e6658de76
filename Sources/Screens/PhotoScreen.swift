import Cache
import Cells
import Model
import Pictures
import Text

/// One photo: all of it at first, then as large as one likes.
@MainActor
final class PhotoScreen: Screen {
    private let results: FetchedResults
    private weak var delegate: PhotosScreen?
    private let wisher: Wishes.Wisher
    private let customer: Darkroom.Customer
    private var key: PhotoKey
    private var photo: Photo?
    /// Kept when the photo is gone, to say of what.
    private var name = ""
    private var view: Viewport
    /// What was drawn last: it stays until there is something better, so that nothing goes blank on the way.
    private var shown: DrawnPicture?
    private var isOnTop = false
    /// Whether a sync has removed the photo. It is found out behind another screen too, and left then when that has gone.
    private var isGone = false

    /// What there is to say of the photo.
    private enum State {
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
        customer = context.darkroom.makeCustomer()
        view = Viewport(room: Size(columns: 1, rows: 1), style: context.drawingStyle)
        super.init(context)
        fetchPhoto()
    }

    private var gallery: GalleryID { results.cache.id }
    private var subject: Wish.Subject { .picture(gallery, key, .photo) }

    // MARK: - What it says

    override var scopes: [CommandTable.Scope] { [.photo, .everywhere] }

    override var heading: Heading {
        var detail: [String] = []
        if let index = results.index(of: key) { detail.append("\(index + 1) of \(results.count)") }
        if photo?.photo.held != nil, let percent = view.percent {
            detail.append(view.zoom == .fit ? "fit" : "\(percent) %")
        }
        return Heading(title: name, detail: detail.joined(separator: " · "))
    }

    override var footing: Footing {
        var footing = Footing(text: photo.map { DateText.long($0.date) } ?? "")
        switch state {
        case .here: break
        case .loading(nil): footing.text = "Loading…"
        case .loading(let progress?):
            footing.text = "Loading… " + ByteText.text(progress.done, of: progress.total)
            footing.fraction = progress.fraction
        case .failed(let failure):
            footing.text = "Load failed: \(failure)"
            footing.isTrouble = true
        }
        footing.hints = [(.zoomIn, "larger"), (.fit, "whole"), (.nextPhoto, "next"), (.help, "help")]
        return footing
    }

    private var state: State {
        guard let photo = photo?.photo else { return .loading(nil) }
        // What is going on now says more than what went wrong before.
        if !photo.isCurrent, let progress = context.activity.progress(of: subject) { return .loading(progress) }
        switch photo.trouble {
        case .bad(let failure), .putOff(let failure): return .failed(failure)
        case nil: break
        }
        if !photo.isCurrent, let failure = context.activity.failure(of: subject) { return .failed(failure) }
        guard photo.held != nil else { return .loading(nil) }
        return context.darkroom.failure(order).map { .failed($0) } ?? .here
    }

    // MARK: - What happens

    override func obey(_ command: Command) -> Bool {
        let isWhole = view.zoom == .fit
        switch command {
        case .zoomIn: view.zoomIn()
        case .zoomOut: view.zoomOut()
        case .actualSize: view.zoomToActualSize()
        case .fit: view.zoomToFit()
        case .left where isWhole, .previousPhoto: step(by: -1)
        case .right where isWhole, .nextPhoto: step(by: 1)
        case .left: view.pan(columns: -max(1, view.room.columns / 8), rows: 0)
        case .right: view.pan(columns: max(1, view.room.columns / 8), rows: 0)
        case .up: view.pan(columns: 0, rows: -max(1, view.room.rows / 8))
        case .down: view.pan(columns: 0, rows: max(1, view.room.rows / 8))
        case .refresh: delegate?.refresh()
        case .stop: context.wishes.stop(.list(gallery))
        default: return false
        }
        return true
    }

    private func step(by amount: Int) {
        guard let index = results.index(of: key), let next = results.key(at: index + amount) else { return }
        leavePhoto()
        key = next
        shown = nil
        view = Viewport(room: view.room, style: view.style)
        fetchPhoto()
        delegate?.photoScreenDidShow(key)
        stateWishes()
    }

    override func modelUpdated(_ update: ModelUpdate) {
        switch update {
        case .results(let results, _) where results === self.results:
            fetchPhoto()
            isGone = photo == nil
            if isGone { return leaveIfGone() }
        case .activity(let change) where change.pictures.contains(subject): break
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
        if photo?.photo.isCurrent == false { delegate?.photoScreenWillLeave(key) }
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
        context.darkroom.want([], by: customer)
    }

    override func withdrawWishes() {
        leavePhoto()
        context.wishes.withdraw(wisher)
    }

    private func stateWishes() {
        context.wishes.state([Wish(subject, importance: .lookedAt)], by: wisher)
    }

    // MARK: - How it looks

    private var order: PictureOrder { view.order(subject, edition: photo?.photo.held ?? 0) }

    override func draw(in surface: inout Surface, frame: Rect) {
        view.room = frame.size
        view.style = context.drawingStyle
        var orders: [PictureOrder] = []
        if photo?.photo.held != nil {
            orders.append(order)
            if let picture = context.darkroom.picture(order) {
                shown = picture
                view.notePhoto(width: picture.width, height: picture.height)
            }
        } else if let photo, photo.thumbnail.held != nil {
            // The thumbnail, as large as the photo will be, is better than nothing.
            let preview = PictureOrder.preview(of: photo, in: gallery, room: frame.size, style: view.style)
            orders.append(preview)
            shown = context.darkroom.picture(preview) ?? shown
        }
        if isOnTop { context.darkroom.want(orders, by: customer, importance: .lookedAt) }
        if let shown {
            let room = frame.centred(shown.cells.size)
            surface.draw(shown.cells, pixels: shown.pixels, at: room.origin, in: frame)
        }
        drawState(in: &surface, frame)
    }

    /// Over the picture only as long as there is nothing else to say it.
    private func drawState(in surface: inout Surface, _ frame: Rect) {
        switch state {
        case .here, .loading(nil): if shown == nil { drawState("Loading…", context.theme.detail, in: &surface, frame) }
        case .loading(let progress?):
            guard shown == nil else { return }
            drawState("Loading…", context.theme.detail, in: &surface, frame)
            if let fraction = progress.fraction { drawBar(fraction, in: &surface, frame) }
        case .failed(let failure):
            // An older edition of the photo is whole; of its thumbnail one would wait for more.
            let isShown = shown != nil && photo?.photo.held != nil && context.darkroom.failure(order) == nil
            if !isShown { drawState("Load failed: \(failure)", context.theme.trouble, in: &surface, frame) }
        }
    }

    private func drawState(_ text: String, _ style: Style, in surface: inout Surface, _ frame: Rect) {
        let shownText = " \(text.truncated(toWidth: max(0, frame.size.columns - 2))) "
        surface.write(
            shownText, in: frame.centred(Size(columns: shownText.displayWidth, rows: 1)), style: style)
    }

    /// Below the text in the middle.
    private func drawBar(_ fraction: Double, in surface: inout Surface, _ frame: Rect) {
        var below = frame.centred(Size(columns: min(40, frame.size.columns), rows: 1))
        below.origin.row += 2
        guard frame.rows.contains(below.origin.row) else { return }
        ProgressBar.draw(fraction, in: &surface, below, context.theme)
    }
}
