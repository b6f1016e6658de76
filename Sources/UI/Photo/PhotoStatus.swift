import Cache
import Cells
import Commands
import Model
import Session
import Text

/// The state of a photo, as texts for the photo screen.
@MainActor
struct PhotoStatus {
    private enum State {
        /// The cache has the photo, or an older edition of the photo.
        case cached
        /// Vitrine is fetching or drawing the photo.
        case loading(Progress?)
        /// The photo is a video on a server, which Vitrine fetches only if the user saves it.
        case onServer
        /// Vitrine cannot fetch or draw the photo.
        case failed(Failure)
    }

    private let photo: Photo?
    private let picture: PhotoPicture
    private let context: ScreenContext
    private let state: State
    /// The time of the automatic retry, after a semicolon. The text is empty if no retry is planned.
    private let retryText: String

    /// - Parameters:
    ///   - photo: the photo's entry in the cache; nil if the gallery no longer has the photo.
    ///   - subject: the photo's original, as the subject of a request.
    init(_ photo: Photo?, _ subject: Wish.Subject, _ picture: PhotoPicture, _ context: ScreenContext) {
        (self.photo, self.picture, self.context) = (photo, picture, context)
        state = Self.state(photo, subject, picture, context)
        let now = context.now()
        let report = context.settings.offline ? nil : context.activity.failureReport(of: subject)
        let next = report?.next.flatMap { $0 > now ? $0 : nil }
        retryText = next.map { "; retry at \(DateText.clock($0, now: now))" } ?? ""
    }

    private static func state(
        _ photo: Photo?, _ subject: Wish.Subject, _ picture: PhotoPicture, _ context: ScreenContext
    ) -> State {
        guard let original = photo?.original else { return .loading(nil) }
        // A transfer under way is more important than an earlier failure.
        if !original.isCurrent, let progress = context.activity.progress(of: subject) { return .loading(progress) }
        if let trouble = original.trouble { return .failed(trouble.failure) }
        if !original.isCurrent, let failure = context.activity.failure(of: subject) { return .failed(failure) }
        guard original.held != nil else {
            guard let photo else { return .loading(nil) }
            if photo.isRemoteVideo { return .onServer }
            return context.offlineFailure(of: photo, in: subject.gallery).map { .failed($0) } ?? .loading(nil)
        }
        if let failure = picture.failure(of: photo), picture.videoPosition == nil { return .failed(failure) }
        return picture.isShown || context.settings.plain ? .cached : .loading(nil)
    }

    /// Whether no picture will appear, so that a slideshow continues.
    var hasNoPictureComing: Bool {
        switch state {
        case .failed, .onServer: true
        case .cached, .loading: false
        }
    }

    /// Whether the picture's place shows the reason why the photo failed.
    ///
    /// The reason covers a thumbnail, so that the user does not wait for the photo. The reason does not cover a
    /// visible older edition of the photo. Plain mode has no picture.
    private var showsFailureInside: Bool {
        guard !context.settings.plain else { return false }
        return !picture.isShown || photo?.original.held == nil || picture.failure(of: photo) != nil
    }

    // MARK: - The status line

    /// Returns the texts and hints of the status line.
    ///
    /// - Parameter scopes: the scopes of the screen's keys.
    func footing(isSlideshow: Bool, keysIn scopes: [CommandTable.Scope]) -> Screen.Footing {
        var footing = Screen.Footing(text: photo.map { DateText.long($0.date) + VideoText.suffix($0) } ?? "")
        switch state {
        case .cached:
            if let position = picture.videoPosition {
                footing.text = VideoText.position(position, of: photo?.videoMilliseconds ?? 0)
            } else if let animationText = animationText(keysIn: scopes) {
                footing.text += " · " + animationText
            }
        case .onServer: footing.text += " · not cached"
        case .loading(nil): footing.text = "Loading…"
        case .loading(let progress?):
            footing.text = "Loading… " + ByteText.text(progress.done.int64, of: progress.total?.int64)
            footing.fraction = progress.fraction
        case .failed(let failure):
            footing.text = showsFailureInside ? "Load failed" : "Load failed: \(failure)\(retryText)"
            footing.isTrouble = true
        }
        footing.hints = hints(isSlideshow: isSlideshow)
        return footing
    }

    private func hints(isSlideshow: Bool) -> [(command: Command, word: String)] {
        if isSlideshow { return [(.slideshow, "stop"), (.help, "help")] }
        if picture.isPlaying { return [(.play, "stop"), (.nextPhoto, "next"), (.help, "help")] }
        let first: [(command: Command, word: String)] =
            if case .onServer = state {
                [(.openExternally, "play"), (.save, "save")]
            } else if photo?.isVideoFile == true, !context.settings.plain {
                [(.play, "play"), (.openExternally, "open")]
            } else if photo?.isVideo == true {
                [(.openExternally, "play")]
            } else if context.settings.plain {
                []
            } else {
                [(.zoomIn, "larger")]
            }
        return first + [(.nextPhoto, "next"), (.information, "facts"), (.help, "help")]
    }

    /// Returns the hint that tells how to play a stopped animation. Returns nil for other photos.
    private func animationText(keysIn scopes: [CommandTable.Scope]) -> String? {
        let key = picture.isAnimated && !picture.isPlaying ? context.keys.key(for: .play, in: scopes) : nil
        return key.map { "animated: press \($0) to play" }
    }

    /// The reason why the photo cannot be played.
    var unplayable: String {
        guard photo?.isVideo == true else { return "Nothing to play: this photo is neither an animation nor a video." }
        let open = context.name(of: .openExternally, in: [.photo, .everywhere])
        if photo?.isVideoFile != true {
            return "The video is only on the server: press \(open) to play it in another program."
        }
        if context.settings.plain {
            return "Plain mode shows no pictures: press \(open) to play the video in another program."
        }
        if photo?.original.trouble != nil { return "Cannot play the video: loading it failed." }
        let save = context.name(of: .save, in: [.photo, .everywhere])
        return "The video is not cached. To play it here, save it with \(save). \(open) opens your player."
    }

    // MARK: - The picture's place

    /// Draws the photo's state as text while the photo has no picture, and the sign of a video on its poster.
    func draw(in surface: inout Surface, _ frame: Rect) {
        let theme = context.theme
        switch state {
        case .cached: drawVideoSign(in: &surface, frame)
        case .onServer:
            if picture.isShown {
                drawVideoSign(in: &surface, frame)
            } else {
                picture.draw(remoteText, theme.detail, in: &surface, frame)
            }
        case .loading(nil):
            // A cached photo is drawn in a moment; until then the previous photo stays as it is.
            if !picture.isAnythingShown || (!picture.isShown && photo?.original.held == nil) {
                picture.draw("Loading…", theme.detail, in: &surface, frame)
            }
        case .loading(let progress?):
            guard !picture.isShown else { return }
            picture.draw("Loading…", theme.detail, fraction: progress.fraction, in: &surface, frame)
        case .failed(let failure):
            guard showsFailureInside else { return }
            picture.draw("Load failed: \(failure)\(retryText)", theme.trouble, in: &surface, frame)
        }
    }

    private var remoteText: String {
        let keys = [Command.openExternally, .save].map { context.name(of: $0, in: [.photo, .everywhere]) }
        return
            "The server has no preview of this video. Press \(keys[0]) to play it elsewhere, \(keys[1]) to save it."
    }

    /// Draws a video's sign and length until playback shows a frame. Text over pixels would remove them, so a picture in
    /// pixels gets no sign; the status line has the length, too.
    private func drawVideoSign(in surface: inout Surface, _ frame: Rect) {
        guard let length = photo?.videoMilliseconds, picture.videoPosition == nil, picture.isShown,
            !context.settings.plain
        else { return }
        let sign = context.theme.signs.video
        let text = length > 0 ? " \(sign) \(VideoText.length(length)) " : " \(sign) "
        var rest = frame
        let line = rest.takeBottom(1)
        let place = line.centred(Size(columns: text.displayWidth, rows: 1))
        guard !surface.placements.contains(where: { $0.rect.overlaps(place) }) else { return }
        surface.write(text, in: place, style: context.theme.key)
    }
}
