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
    private var view: Viewport
    /// What was drawn last: it stays until there is something better, so that nothing goes blank on the way.
    private var shown: DrawnPicture?
    private var isOnTop = false

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
        return Heading(title: photo?.name ?? "", detail: detail.joined(separator: " · "))
    }

    override var footing: Footing {
        var footing = Footing(text: photo.map { DateText.long($0.date) } ?? "")
        if let progress = context.activity.progress(of: subject), photo?.photo.isCurrent == false {
            footing.text = "Loading… " + ByteText.text(progress.done, of: progress.total)
            footing.fraction = progress.fraction
        } else if let failure {
            footing.text = "Load failed: \(failure)"
            footing.isTrouble = true
        } else if photo?.photo.held == nil {
            footing.text = "Loading…"
        }
        footing.hints = [(.zoomIn, "larger"), (.fit, "whole"), (.nextPhoto, "next"), (.help, "help")]
        return footing
    }

    /// Why the photo is not shown, if it is known that it is not.
    private var failure: Failure? {
        switch photo?.photo.trouble {
        case .bad(let failure), .putOff(let failure): failure
        case nil: photo?.photo.held == nil ? nil : context.darkroom.failure(order)
        }
    }

    // MARK: - What happens

    override func handle(_ event: InterfaceEvent) -> InterfaceEvent? {
        guard case .command(let command) = event else { return event }
        guard obey(command) else { return event }
        setNeedsDisplay()
        return nil
    }

    private func obey(_ command: Command) -> Bool {
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
        delegate?.photoScreenWillLeave(key)
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
            let name = photo?.name
            fetchPhoto()
            if photo == nil { return leave(name) }
        case .activity(let change) where change.pictures.contains(subject): break
        case .pictures(let orders) where orders.contains { $0.subject == subject || $0.subject == thumbnail }: break
        default: return
        }
        if isOnTop { setNeedsDisplay() }
    }

    private var thumbnail: Wish.Subject { .picture(gallery, key, .thumbnail) }

    /// A sync has removed the photo from under our eyes.
    private func leave(_ name: String?) {
        send(.back)
        send(.notice("“\((name ?? "").madeVisible)” is no longer in the gallery."))
    }

    private func fetchPhoto() {
        guard let index = results.index(of: key) else {
            photo = nil
            return
        }
        photo = (try? results.photos(in: index..<index + 1))?.first ?? nil
    }

    override func didAppear() {
        isOnTop = true
        stateWishes()
    }

    override func didDisappear() {
        isOnTop = false
        delegate?.photoScreenWillLeave(key)
        context.wishes.withdraw(wisher)
        context.darkroom.want([], by: customer)
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
            surface.draw(shown.cells, at: room.origin, in: frame)
        }
        drawState(in: &surface, frame)
    }

    /// Over the picture only as long as there is nothing else to say it.
    private func drawState(in surface: inout Surface, _ frame: Rect) {
        guard shown == nil || failure != nil else { return }
        let text = failure.map { "Load failed: \($0)" } ?? "Loading…"
        let shownText = " \(text.truncated(toWidth: max(0, frame.size.columns - 2))) "
        let middle = frame.centred(Size(columns: shownText.displayWidth, rows: 1))
        surface.write(shownText, in: middle, style: failure == nil ? context.theme.detail : context.theme.trouble)
        guard failure == nil, let fraction = context.activity.progress(of: subject)?.fraction else { return }
        var below = frame.centred(Size(columns: min(40, frame.size.columns), rows: 1))
        below.origin.row += 2
        guard frame.rows.contains(below.origin.row) else { return }
        ProgressBar.draw(fraction, in: &surface, below, context.theme)
    }
}
