import Cells
import Model
import Pictures
import Text

/// How a photo looks, and what there is to say of it.
extension PhotoScreen {
    func drawAll(in surface: inout Surface, _ frame: Rect) {
        guard !context.settings.plain else { return drawPlain(in: &surface, frame) }
        var rest = frame
        panelFrame = panel.takeRoom(&rest)
        pictureFrame = rest
        view.size = rest.size
        view.style = context.drawingStyle
        let orders = takePictures()
        if isOnTop { context.pipeline.want(orders, by: client, importance: .lookedAt) }
        // Under the name of one that cannot be had, no other is shown.
        if case .failed = state, shown?.key != key { shown = nil }
        if let shown {
            let picture = shown.picture
            surface.draw(
                picture.cells, pixels: picture.pixels, at: rest.centred(picture.cells.size).origin, in: rest)
        }
        drawState(in: &surface, rest)
        drawPanel(in: &surface)
        if isOnTop {
            noteFrame()
            notePictureSeen()
        }
    }

    /// What is to be seen of the photo.
    var order: PictureOrder {
        view.order(subject, edition: photo?.original.held ?? 0).showing(frame: playback.frame)
    }

    /// What is seen of another photo when one comes to it: the photo, or what stands for it until it is here.
    func order(of photo: Photo) -> PictureOrder? {
        PhotoLook(gallery: gallery).order(of: photo, in: freshView(of: photo.key))
    }

    /// A photo's thumbnail, as large as the photo will be.
    func preview(of photo: Photo, in view: Viewport) -> PictureOrder? {
        PhotoLook(gallery: gallery).preview(of: photo, in: view)
    }

    /// Takes what has been drawn of the photo. Returns what is to be drawn, the most important first: what is looked at, then
    /// what is said of it, then what will be looked at next, and the one before it, for who turns back.
    private func takePictures() -> [PictureOrder] {
        let sight = currentSight
        self.sight = sight
        guard let photo else { return [] }
        takeNextPicture()
        var orders = photo.original.held == nil ? takeSubstitutes(photo) : takePhoto(photo)
        if panel.content != .none, photo.original.held != nil { orders.append(examination(of: photo)) }
        // What an animation needs is not to be put aside for what is beside it.
        guard !playback.isRunning else { return orders + nextPicture }
        for photo in sight.beside {
            if let order = order(of: photo), !orders.contains(order) { orders.append(order) }
        }
        return orders
    }

    /// The photo itself. Until that is drawn, its thumbnail is better than another photo.
    private func takePhoto(_ photo: Photo) -> [PictureOrder] {
        let wanted = order
        if let picture = context.pipeline.picture(wanted) {
            shown = Shown(picture: picture, key: key, isPhoto: true, order: wanted)
            view.setPhotoSize(width: picture.width, height: picture.height)
            // By its size it may be another part that is seen.
            return [order]
        }
        guard shown?.key != key || shown?.isPhoto == false, let preview = preview(of: photo, in: view) else {
            return [wanted]
        }
        takeSubstitute(preview)
        // It is small, and so there at once. Once it is on the screen, the room that it takes is the photo's.
        return shown?.order == preview ? [wanted] : [preview, wanted]
    }

    /// What there is of a photo that is on its way: its beginning, if some of it has come, and its thumbnail.
    private func takeSubstitutes(_ photo: Photo) -> [PictureOrder] {
        let preview = preview(of: photo, in: view)
        let beginning = arrival.arrived.map { order.beginning($0.int64, edition: photo.original.edition) }
        if let beginning, context.pipeline.picture(beginning) != nil {
            takeSubstitute(beginning)
        } else if let preview, arrival.drawn == nil || shown?.key != key {
            takeSubstitute(preview)
        }
        if let beginning, context.pipeline.picture(beginning) != nil { arrival.drawn = arrival.arrived }
        return [beginning, preview].compactMap { $0 }
    }

    private func takeSubstitute(_ order: PictureOrder) {
        guard let picture = context.pipeline.picture(order) else { return }
        shown = Shown(picture: picture, key: key, isPhoto: false, order: order)
    }

    // MARK: - What there is to say

    /// Over the picture only as long as there is nothing else to say it.
    private func drawState(in surface: inout Surface, _ frame: Rect) {
        let isShown = shown?.key == key
        switch state {
        case .here: break
        case .loading(nil):
            // What is here is drawn in a moment: the photo before it stays as it is until then.
            if shown == nil || (!isShown && photo?.original.held == nil) {
                drawState("Loading…", context.theme.detail, in: &surface, frame)
            }
        case .loading(let progress?):
            guard !isShown else { return }
            drawState("Loading…", context.theme.detail, in: &surface, frame)
            if let fraction = progress.fraction { drawBar(fraction, in: &surface, frame) }
        case .failed(let failure):
            if saysFailureInside {
                drawState("Load failed: \(failure)", context.theme.trouble, in: &surface, frame)
            }
        }
    }

    private func drawState(_ text: String, _ style: Style, in surface: inout Surface, _ frame: Rect) {
        let lines = text.folded(toWidth: frame.size.columns - 2).map { " \($0) " }.prefix(frame.size.rows)
        var rest = frame.centred(Size(columns: frame.size.columns, rows: lines.count))
        for line in lines {
            surface.write(line, in: rest.takeTop(1).centred(Size(columns: line.displayWidth, rows: 1)), style: style)
        }
    }

    /// Below the text in the middle.
    private func drawBar(_ fraction: Double, in surface: inout Surface, _ frame: Rect) {
        var below = frame.centred(Size(columns: min(40, frame.size.columns), rows: 1))
        below.origin.row += 2
        guard frame.rows.contains(below.origin.row) else { return }
        ProgressBar.draw(fraction, in: &surface, below, context.theme)
    }
}
