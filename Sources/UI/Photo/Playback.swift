import Concurrency
import Model

/// Plays an animation in a loop, and shows each frame for the time that the file gives.
///
/// A frame's time begins when the frame is visible. If the next frame is not drawn in time, the current one stays, and no
/// frames queue up. The clock runs only while a frame is visible.
@MainActor
final class Playback {
    /// Called when the next frame is due.
    var onDue: () -> Void = {}

    /// Whether the animation is playing, for the status line.
    private(set) var isRunning = false
    /// The index of the visible frame, which stays when the animation stops.
    private(set) var frame = 0
    /// Whether the next frame is due, so that it is shown as soon as it is drawn.
    private(set) var isDue = false
    private let alarm: Alarm

    /// The shortest time that a frame is visible, in milliseconds.
    private static let shortest = 20
    /// The time for a frame whose duration is 0 in the file, in milliseconds, as in browsers.
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

    /// Stops, and goes to the first frame of another photo.
    func reset() {
        stop()
        frame = 0
    }

    /// Makes this frame the visible frame.
    func advance(to frame: Int) {
        self.frame = frame
        isDue = false
    }

    /// Starts the time of the visible frame, unless the time already runs. The screen calls this method for each of its frames.
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
