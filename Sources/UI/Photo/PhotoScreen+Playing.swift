import Commands
import Pictures

/// An animation in the photo's place: its first picture stands until it is played.
extension PhotoScreen {
    /// Whether there is more than one picture to what is looked at.
    var isAnimated: Bool { frameCount > 1 }

    /// How many there are, as far as what is shown knows.
    private var frameCount: Int {
        guard let shown, shown.key == key, shown.isPhoto else { return 1 }
        return shown.picture.frameCount
    }

    /// What is said of one that does not play.
    var animationText: String? {
        guard isAnimated, !playback.isRunning, let key = context.keys.key(for: .play, in: scopes) else { return nil }
        return "animated, \(key) plays it"
    }

    func togglePlaying() {
        if playback.isRunning { return playback.stop() }
        guard isAnimated else { return send(.notice("There is nothing to play: it is a single picture.")) }
        playback.start()
    }

    /// The picture behind the one that is looked at, while the animation plays.
    private var upcomingPicture: (frame: Int, order: PictureOrder)? {
        guard playback.isRunning, isAnimated else { return nil }
        let frame = playback.frame + 1 < frameCount ? playback.frame + 1 : 0
        return (frame, order.showing(frame: frame))
    }

    /// Goes on to the next picture if its time has come and it is drawn. One that cannot be drawn ends it.
    func takeNextPicture() {
        guard let next = upcomingPicture else { return }
        if context.pipeline.failure(next.order) != nil { return playback.stop() }
        if playback.isDue, context.pipeline.picture(next.order) != nil { playback.goOn(to: next.frame) }
    }

    /// What is to be drawn ahead of the animation.
    var nextPicture: [PictureOrder] { upcomingPicture.map { [$0.order] } ?? [] }

    /// The clock of the animation runs for what is seen.
    func notePictureSeen() {
        guard playback.isRunning, let picture = context.pipeline.picture(order) else { return }
        playback.noteSeen(for: picture.duration)
    }
}
