import Concurrency
import Model

/// An animation that plays: each of its pictures for as long as the file says, counted from when it is seen, and after the last
/// one the first again.
///
/// There is a clock as long as a picture is seen that is not due to go, and none else. The next one may not be drawn when its
/// time has come: then the one before stays until it is, and nothing queues up behind it.
@MainActor
final class Playback {
    /// Called when a picture has been seen for long enough.
    var onDue: () -> Void = {}

    private(set) var isRunning = false
    /// Which picture is looked at, from 0 on. It stays when the animation is stopped.
    private(set) var frame = 0
    /// Whether the next one is to be seen as soon as it is drawn.
    private(set) var isDue = false
    /// The time of the picture that is seen.
    private let alarm: Alarm

    /// What is shown for less is shown for so long, in milliseconds.
    private static let shortest = 20
    /// What is shown for no time at all, which "leaves it to whoever shows them", is shown for so long: browsers do so.
    private static let usual = 100

    init(_ context: ScreenContext) {
        alarm = Alarm(wait: context.wait)
    }

    func start() { isRunning = true }

    func stop() {
        isRunning = false
        isDue = false
        noteWaiting()
    }

    /// Another photo is looked at.
    func beginAnew() {
        stop()
        frame = 0
    }

    /// The next picture is there, and its time has come.
    func goOn(to frame: Int) {
        self.frame = frame
        isDue = false
    }

    /// The picture is seen. Said at every frame of the screen; its time begins with the first.
    func noteSeen(for duration: Int) {
        guard isRunning, !isDue, !alarm.isSet else { return }
        let time = Duration.milliseconds(duration == 0 ? Self.usual : max(Self.shortest, duration))
        alarm.set(after: time) { [weak self] in self?.ring() }
    }

    /// Nobody looks.
    func noteWaiting() {
        alarm.cancel()
    }

    private func ring() {
        guard isRunning else { return }
        isDue = true
        onDue()
    }
}
