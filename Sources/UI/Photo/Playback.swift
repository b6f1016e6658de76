import Concurrency
import Model

/// Plays an animation: each frame for the time its file gives, in a loop.
///
/// A frame's time begins when the frame is visible. If the next frame is not drawn in time, the current one stays, and no
/// frames queue up. The clock runs only while a frame is visible.
@MainActor
final class Playback {
    /// Called when the next frame is due.
    var onDue: () -> Void = {}

    /// Whether the animation plays; the status line shows it.
    private(set) var isRunning = false
    /// The index of the visible frame. It stays when the animation stops.
    private(set) var frame = 0
    /// Whether the next frame is shown as soon as it is drawn.
    private(set) var isDue = false
    private let alarm: Alarm

    /// The shortest time of a frame, in milliseconds.
    private static let shortest = 20
    /// The time of a frame with duration 0, in milliseconds, as in browsers.
    private static let usual = 100

    init(_ context: ScreenContext) {
        alarm = Alarm(wait: context.wait)
    }

    func start() { isRunning = true }

    func stop() {
        isRunning = false
        isDue = false
        stopClock()
    }

    /// Stops, and begins with another photo's first frame.
    func reset() {
        stop()
        frame = 0
    }

    /// Shows the next frame.
    func advance(to frame: Int) {
        self.frame = frame
        isDue = false
    }

    /// Starts the time of the visible frame, unless it already runs. Called for every frame of the screen.
    func startClock(for duration: Int) {
        guard isRunning, !isDue, !alarm.isSet else { return }
        let time = Duration.milliseconds(duration == 0 ? Self.usual : max(Self.shortest, duration))
        alarm.set(after: time) { [weak self] in self?.ring() }
    }

    func stopClock() {
        alarm.cancel()
    }

    private func ring() {
        guard isRunning else { return }
        isDue = true
        onDue()
    }
}
