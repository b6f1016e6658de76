import Cache
import Cells
import Concurrency
import Model
import Numbers
import Pictures
import Text

/// The picture of a photo on a screen, with its zoom and rotation.
///
/// Until the photo is drawn, the screen shows the best substitute: the previous photo, the thumbnail, or the received
/// part of the file. An animation shows its first frame, and a video its poster, until the user plays it.
@MainActor
final class PhotoPicture {
    /// A picture on the screen.
    private struct Shown {
        let picture: DrawnPicture
        /// The photo that this picture shows. The previous photo's picture stays until the current photo has a picture.
        let key: PhotoKey
        /// Whether the picture is the photo itself, and not a thumbnail or a part of the photo.
        let isPhoto: Bool
        let order: PictureOrder
    }

    /// Called when another picture is ready to be drawn.
    var onChange: () -> Void = {}
    /// Called with a sentence for the user if a video cannot be played.
    var onFailure: (String) -> Void = { _ in }
    /// The zoom, the rotation and the visible part. The screen's commands change this view.
    var view: Viewport

    private let context: ScreenContext
    private let gallery: GalleryID
    private var key: PhotoKey
    private var shown: Shown?
    /// The quarter turns of each photo that the user has rotated.
    private var turns: [PhotoKey: Int] = [:]
    private let progressive: ProgressivePreview
    private let playback: AnimationPlayback
    private let video: VideoPlayback

    init(_ key: PhotoKey, in gallery: GalleryID, _ context: ScreenContext) {
        (self.key, self.gallery, self.context) = (key, gallery, context)
        view = Viewport(size: Size(columns: 1, rows: 1), style: context.drawingStyle)
        progressive = ProgressivePreview(context)
        playback = AnimationPlayback(context)
        video = VideoPlayback(context)
        playback.onDue = { [weak self] in self?.onChange() }
        video.onChange = { [weak self] in self?.onChange() }
        video.onFailure = { [weak self] in self?.onFailure($0) }
        progressive.onMore = { [weak self] in self?.onChange() }
    }

    /// Changes to another photo. The previous picture stays until the new photo has a picture.
    func change(to key: PhotoKey) {
        self.key = key
        view = freshView(of: key)
        progressive.reset()
        playback.reset()
        video.reset()
    }

    /// Changes to another photo, with the zoom and the visible part of another view.
    func change(to key: PhotoKey, like other: Viewport) {
        change(to: key)
        follow(other)
    }

    /// Adopts the zoom and the visible part of another view. The photo keeps its own rotation.
    func follow(_ other: Viewport) {
        let own = view.turns
        view = other
        view.turn(by: own - other.turns)
    }

    /// Rotates the photo by quarter turns. Vitrine keeps each photo's rotation until the end of the run.
    func turn(by quarters: Int) {
        view.turn(by: quarters)
        turns[key] = view.turns
    }

    /// Returns the first view of a photo. The photo fills the screen if the previous photo did; otherwise it fits the
    /// screen.
    private func freshView(of key: PhotoKey) -> Viewport {
        Viewport(
            size: view.size, style: view.style, zoom: view.zoom == .fill ? .fill : .fit, turns: turns[key] ?? 0)
    }

    /// Whether the screen shows the current photo, its thumbnail or a part of it.
    var isShown: Bool { shown?.key == key }

    /// Whether the screen shows the current photo itself, not a substitute.
    var isPhotoShown: Bool { isShown && shown?.isPhoto == true }

    /// Whether the screen shows any picture, even of the previous photo.
    var isAnythingShown: Bool { shown != nil }

    /// Returns the reason why Vitrine cannot draw a photo in the current view, or nil.
    func failure(of photo: Photo?) -> Failure? { context.pipeline.failure(order(of: photo)) }

    /// Sets the number of bytes received so far; nil when the transfer ends.
    func setProgress(_ progress: Progress?) { progressive.setProgress(progress) }

    // MARK: - Drawing

    /// Adopts the pictures that are ready. Returns requests for pictures to draw, the most important first.
    ///
    /// The result has requests for the photo, the examination of its file, the next photos, and the previous photo.
    ///
    /// - Parameters:
    ///   - neighbours: the photos to draw in advance.
    ///   - isExamined: whether to examine the photo's file, too.
    func update(_ photo: Photo, _ neighbours: [Photo], isExamined: Bool) -> [PictureOrder] {
        advanceAnimation(photo)
        var orders = photo.original.held == nil ? takeSubstitutes(photo) : takePhoto(photo)
        if isExamined, photo.original.held != nil { orders.append(.examination(of: photo, in: gallery)) }
        // An animation needs all the drawing time.
        guard !isPlaying else { return orders + (nextFrame(photo).map { [$0.order] } ?? []) }
        for neighbour in neighbours {
            let order = look.order(of: neighbour, in: freshView(of: neighbour.key))
            if let order, !orders.contains(order) { orders.append(order) }
        }
        return orders
    }

    /// Removes the picture of the previous photo, because the current photo has failed.
    func removeForeign() {
        if !isShown { shown = nil }
    }

    func draw(in surface: inout Surface, _ frame: Rect) {
        guard let picture = shown?.picture else { return }
        surface.draw(
            picture.cells, pixels: picture.pixels, isMoving: isPlaying || video.isAtEnd,
            at: frame.centred(picture.cells.size).origin, in: frame)
    }

    /// Draws a centred text in place of the picture, and a progress bar below the text.
    func draw(
        _ text: String, _ style: Style, fraction: Double? = nil, in surface: inout Surface, _ frame: Rect
    ) {
        let lines = text.folded(toWidth: frame.size.columns - 2).map { " \($0) " }.prefix(frame.size.rows)
        var rest = frame.centred(Size(columns: frame.size.columns, rows: lines.count))
        for line in lines {
            surface.write(line, in: rest.takeTop(1).centred(Size(columns: line.displayWidth, rows: 1)), style: style)
        }
        var bar = frame.centred(Size(columns: min(40, frame.size.columns), rows: 1))
        bar.origin.row += 2
        guard let fraction, frame.rows.contains(bar.origin.row) else { return }
        ProgressBar.draw(fraction, in: &surface, bar, context.theme)
    }

    private var look: PhotoLook { PhotoLook(gallery: gallery) }

    private func order(of photo: Photo?) -> PictureOrder {
        view.order(.picture(gallery, key, .original), edition: photo?.original.held ?? 0)
            .showing(frame: playback.frame)
    }

    /// Shows the drawn photo, or else a substitute. Returns requests for the pictures to draw.
    private func takePhoto(_ photo: Photo) -> [PictureOrder] {
        let wanted = order(of: photo)
        video.adopt(wanted)
        if let frame = video.picture {
            shown = Shown(picture: frame, key: key, isPhoto: true, order: wanted)
            view.setPhotoSize(width: frame.width, height: frame.height)
            return []
        }
        if let picture = context.pipeline.picture(wanted) {
            shown = Shown(picture: picture, key: key, isPhoto: true, order: wanted)
            view.setPhotoSize(width: picture.width, height: picture.height)
            // The photo's size can change the visible part.
            return [order(of: photo)]
        }
        guard !isPhotoShown, let preview = look.preview(of: photo, in: view) else { return [wanted] }
        takeSubstitute(preview)
        // Order the small thumbnail only until it is on the screen. Then the photo needs the memory.
        return shown?.order == preview ? [wanted] : [preview, wanted]
    }

    /// Shows the received part of the photo, or else the thumbnail. Returns requests for the pictures to draw.
    private func takeSubstitutes(_ photo: Photo) -> [PictureOrder] {
        let preview = look.preview(of: photo, in: view)
        let beginning = progressive.requested.map {
            order(of: photo).beginning($0.int64, edition: photo.original.edition)
        }
        if let beginning, context.pipeline.picture(beginning) != nil {
            takeSubstitute(beginning)
            progressive.markDrawn()
        } else if let preview, !progressive.isDrawn || !isShown {
            takeSubstitute(preview)
        }
        return [beginning, preview].compactMap { $0 }
    }

    private func takeSubstitute(_ order: PictureOrder) {
        guard let picture = context.pipeline.picture(order) else { return }
        shown = Shown(picture: picture, key: key, isPhoto: false, order: order)
    }

    // MARK: - Animation

    /// Whether the photo is known to have several frames.
    var isAnimated: Bool { frameCount > 1 }

    var isPlaying: Bool { playback.isRunning || video.isRunning }

    /// The time of the visible frame of a video; nil for the poster and for other photos.
    var videoPosition: Duration? { video.picture == nil ? nil : video.position }

    /// Returns whether a photo can be played. It must be an animation, or a video whose file is available.
    func canPlay(_ photo: Photo) -> Bool { isAnimated || (photo.isVideoFile && photo.original.held != nil) }

    /// Plays an animation or a video.
    ///
    /// - Parameter frameRate: the video's frames per second; nil if unknown.
    func play(_ photo: Photo, frameRate: Double?) {
        if isAnimated { playback.start() } else { video.start(order(of: photo), frameRate: frameRate) }
    }

    func stop() {
        playback.stop()
        video.stop()
    }

    /// Continues playback after the screen has drawn a frame.
    ///
    /// Starts the clock of an animation's frame, or requests the next frame of a video.
    func frameWasDrawn(_ photo: Photo?) {
        if video.isOpen { video.frameWasDrawn() }
        guard playback.isRunning, let picture = context.pipeline.picture(order(of: photo)) else { return }
        playback.startClock(for: picture.duration)
    }

    /// Stops the clock of the visible frame while another screen covers this screen.
    func stopClock() {
        playback.stopClock()
        video.stopClock()
    }

    private var frameCount: Int { isPhotoShown ? shown?.picture.frameCount ?? 1 : 1 }

    private func nextFrame(_ photo: Photo) -> (frame: Int, order: PictureOrder)? {
        guard playback.isRunning, isAnimated else { return nil }
        let frame = playback.frame + 1 < frameCount ? playback.frame + 1 : 0
        return (frame, order(of: photo).showing(frame: frame))
    }

    /// Shows the next frame of an animation if the frame is due and drawn. A frame that cannot be drawn ends the
    /// animation.
    private func advanceAnimation(_ photo: Photo) {
        guard let next = nextFrame(photo) else { return }
        if context.pipeline.failure(next.order) != nil { return playback.stop() }
        if playback.isDue, context.pipeline.picture(next.order) != nil { playback.advance(to: next.frame) }
    }
}

/// Chooses the picture and the metadata of a photo to show.
///
/// The photo screen and the preview pane share these choices.
struct PhotoLook {
    let gallery: GalleryID

    /// Returns the request to draw a photo, or else its thumbnail. Returns nil if the cache has neither.
    func order(of photo: Photo, in view: Viewport) -> PictureOrder? {
        if let held = photo.original.held { return view.order(.picture(gallery, photo.key, .original), edition: held) }
        return preview(of: photo, in: view)
    }

    /// Returns the request to draw a photo's thumbnail at the photo's size.
    func preview(of photo: Photo, in view: Viewport) -> PictureOrder? {
        guard photo.thumbnail.held != nil else { return nil }
        return .preview(
            of: photo, in: gallery, size: view.size, style: view.style, turns: view.turns, fills: view.zoom == .fill)
    }

    /// Returns the most recent metadata of a photo, if any are known.
    ///
    /// Metadata stored for the current edition of the file come first, then those of the examination, then those stored
    /// for an older edition.
    func metadata(of photo: Photo, _ stored: StoredMetadata?, _ examination: PhotoExamination?) -> PhotoMetadata? {
        if let stored, stored.edition == photo.original.held { return stored.metadata }
        return examination?.metadata ?? stored?.metadata
    }
}

/// Decides when to draw the received part of a photo.
///
/// Each further tenth of the file leads to another drawing, at most twice a second.
@MainActor
private final class ProgressivePreview {
    /// Called when enough new bytes have arrived for another drawing.
    var onMore: () -> Void = {}

    /// The number of received bytes to draw; nil if none are to be drawn.
    private(set) var requested: ByteCount?
    /// Whether a part of the photo has been drawn.
    private(set) var isDrawn = false
    private var latest: Progress?
    private let pause: Alarm

    private static let interval = Duration.milliseconds(500)

    init(_ context: ScreenContext) {
        pause = Alarm(wait: context.wait)
    }

    /// Forgets the received bytes, because another photo is shown.
    func reset() {
        pause.cancel()
        (latest, requested, isDrawn) = (nil, nil, false)
    }

    func markDrawn() { isDrawn = true }

    /// Sets the number of bytes received so far; nil when the transfer ends.
    func setProgress(_ progress: Progress?) {
        latest = progress
        if !pause.isSet { requestLatest() }
    }

    /// Requests a drawing if another tenth of the file has arrived. A file of unknown length gets no drawing.
    private func requestLatest() {
        guard let latest, let total = latest.total, latest.done - (requested ?? 0) >= max(1, total / 10) else { return }
        requested = latest.done
        pause.set(after: Self.interval) { [weak self] in self?.endPause() }
    }

    private func endPause() {
        let before = requested
        requestLatest()
        if requested != before { onMore() }
    }
}
