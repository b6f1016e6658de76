import Cells
import Concurrency
import Model
import Pictures

/// Plays an animation in a loop, and shows each frame for the time that the file gives.
///
/// A frame's time begins when the frame is visible. If the next frame is not drawn in time, the current one stays, and
/// no frames queue up. The clock runs only while a frame is visible.
@MainActor
final class AnimationPlayback {
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

    /// Starts the clock of the visible frame, unless the clock already runs. Called each time the screen is drawn.
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

/// Plays a video without sound, frame by frame, as quickly as decoder and terminal allow.
///
/// At most one frame is requested at a time, and only after the previous frame is on the screen. Each request states
/// the time at which the frame will be visible. So a slow terminal or decoder skips frames, and the video does not slow
/// down. A stopped video keeps its frame on the screen.
@MainActor
final class VideoPlayback {
    /// Called when another frame is ready, or when the video has ended.
    var onChange: () -> Void = {}
    /// Called with a sentence for the user if the video cannot be played.
    var onFailure: (String) -> Void = { _ in }

    /// Whether the video is playing, for the status line.
    private(set) var isRunning = false
    /// The visible frame; nil before the first one.
    private(set) var picture: DrawnPicture?
    /// The time of the visible frame.
    private(set) var position = Duration.zero
    private let makeFrames: (PictureOrder) -> any VideoFrames
    private let alarm: Alarm
    private let now: () -> Duration
    /// The request for the frames, with their size, visible part and style. Nil if the screen shows no video.
    private var order: PictureOrder?
    private var frames: (any VideoFrames)?
    private var request: Task<Void, Never>?
    /// A drawn frame that is not due yet.
    private var waiting: VideoFrame?
    /// Whether the visible frame has the size and part that ``order`` requests.
    private var isCurrent = false
    /// Whether the last frame is visible.
    private(set) var isAtEnd = false
    /// Whether the screen is on top.
    private var isVisible = false
    /// A time on the clock, and the video's position at that time. Nil while the video's clock stands still.
    private var anchor: (moment: Duration, position: Duration)?
    /// The time when Vitrine last read the clock.
    private var lastLook = Duration.zero
    /// The mean time from the request of a frame to its arrival.
    private var delay = Duration.zero
    /// A little more than the time between two frames of the file.
    private var step = Duration.milliseconds(1)

    /// The longest pause that counts as playing time. After a longer pause, such as that of a suspended program, the
    /// video continues where it was.
    private static let longestPause = Duration.seconds(2)
    /// The frame rate to assume for a file that does not state one, in frames a second.
    private static let usualRate = 50.0
    /// The highest frame rate, in frames a second. No terminal shows more.
    private static let greatestRate = 240.0
    /// The shortest time until the next request if the next frame is not due.
    private static let shortestPause = Duration.milliseconds(5)
    /// The shortest pause before a request if the next frame's time is unknown.
    private static let blindPause = Duration.milliseconds(20)
    /// The longest time until the next request. The decoder may report a wrong time, and a pause beyond
    /// ``longestPause`` would not count as playing time.
    private static let longestWait = Duration.seconds(1)

    /// - Parameter now: returns the time of a clock that stands still while the machine is suspended.
    init(_ context: ScreenContext, now: @escaping () -> Duration = VideoPlayback.makeClock()) {
        makeFrames = { context.videoFrames($0) }
        alarm = Alarm(wait: context.wait)
        self.now = now
    }

    private static func makeClock() -> () -> Duration {
        let (clock, start) = (SuspendingClock(), SuspendingClock.now)
        return { start.duration(to: clock.now) }
    }

    deinit {
        request?.cancel()
        frames?.end()
    }

    /// Whether a frame of the video is visible or requested.
    var isOpen: Bool { order != nil }

    /// Plays the video from the visible frame on, or again from the beginning after the end.
    ///
    /// - Parameter frameRate: the file's frames per second; nil if unknown.
    func start(_ order: PictureOrder, frameRate: Double?) {
        if isAtEnd { (isAtEnd, isCurrent, position) = (false, false, .zero) }
        step = .seconds(1.02 / max(1, min(frameRate ?? Self.usualRate, Self.greatestRate)))
        isRunning = true
        isVisible = true
        anchor = nil
        if frames == nil || order != self.order { show(order) }
        requestNext()
    }

    /// Stops at the visible frame. The video's decoder waits for the next start.
    func stop() {
        isRunning = false
        halt()
    }

    /// Ends the video, because the screen shows another photo.
    func reset() {
        stop()
        endFrames()
        (order, picture, position, isAtEnd, isCurrent) = (nil, nil, .zero, false, false)
        delay = .zero
    }

    /// Stops the clock while another screen covers this screen.
    func stopClock() {
        isVisible = false
        halt()
    }

    /// Stops the video's clock, and drops a frame that is not due yet.
    private func halt() {
        anchor = nil
        waiting = nil
        alarm.cancel()
    }

    /// Shows the frames with another size or part from now on.
    func adopt(_ order: PictureOrder) {
        guard isOpen, order != self.order else { return }
        show(order)
        requestNext()
    }

    /// Requests the next frame, because the previous frame is on the screen.
    func frameWasDrawn() {
        isVisible = true
        requestNext()
    }

    private func show(_ order: PictureOrder) {
        endFrames()
        self.order = order
        frames = makeFrames(order)
        isCurrent = false
    }

    private func endFrames() {
        request?.cancel()
        request = nil
        waiting = nil
        alarm.cancel()
        frames?.end()
        frames = nil
    }

    private func requestNext() {
        guard isVisible, request == nil, waiting == nil, !alarm.isSet, let frames, isRunning || !isCurrent else {
            return
        }
        let begin = now()
        let time = wantedTime(at: begin)
        request = Task { [weak self] in
            do throws(PictureError) {
                let frame = try await frames.frame(at: time)
                guard !Task.isCancelled else { return }
                self?.take(frame, requestedAt: begin)
            } catch {
                guard !Task.isCancelled else { return }
                self?.fail(error)
            }
        }
    }

    /// Returns the position that the video will have when the next frame appears.
    private func wantedTime(at moment: Duration) -> Duration {
        defer { lastLook = moment }
        guard isRunning, isCurrent else { return position }
        guard let anchor, moment - lastLook <= Self.longestPause else {
            self.anchor = (moment, position)
            return position + step
        }
        return max(position + step, anchor.position + (moment - anchor.moment) + delay)
    }

    private func take(_ frame: VideoFrame?, requestedAt begin: Duration) {
        request = nil
        guard let frame else { return finish() }
        let moment = now()
        lastLook = moment
        guard isCurrent else { return show(frame, at: moment) }
        // Use a mean over the last requests, so that one slow frame does not make the video skip others. The first
        // frame takes longer and does not count.
        delay = (delay * 3 + (moment - begin)) / 4
        guard isRunning, isVisible else { return }
        if frame.time == position, !frame.isLast {
            return alarm.set(after: pause(until: frame.next, at: moment)) { [weak self] in self?.requestNext() }
        }
        guard let anchor else { return show(frame, at: moment) }
        let due = anchor.moment + (frame.time - anchor.position)
        guard due > moment else { return show(frame, at: moment) }
        waiting = frame
        alarm.set(after: due - moment) { [weak self] in self?.showWaiting() }
    }

    /// Returns the time to wait before the request of the next frame.
    private func pause(until next: Duration?, at moment: Duration) -> Duration {
        guard let anchor, let next, next > position else { return max(step, Self.blindPause) }
        let rest = anchor.moment + (next - anchor.position) - delay - moment
        return max(Self.shortestPause, min(rest, Self.longestWait))
    }

    private func showWaiting() {
        guard let frame = waiting else { return }
        waiting = nil
        show(frame, at: now())
    }

    private func show(_ frame: VideoFrame, at moment: Duration) {
        (picture, position, lastLook, isCurrent) = (frame.picture, frame.time, moment, true)
        if anchor == nil { anchor = (moment, frame.time) }
        if frame.isLast { return finish() }
        onChange()
    }

    /// Stops at the last frame.
    private func finish() {
        isAtEnd = isRunning || isAtEnd
        isCurrent = true
        stop()
        onChange()
    }

    private func fail(_ error: PictureError) {
        request = nil
        let isFirst = picture == nil
        stop()
        endFrames()
        isCurrent = true
        if isFirst { reset() }
        if error != .cancelled { onFailure("Playback failed: \(error)") }
        onChange()
    }
}
