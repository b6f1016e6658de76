import Dispatch

/// Schedules frames: at most 60 a second, and only when the terminal has received the previous one. All changes in
/// between are drawn in one frame.
@MainActor
final class FrameLoop {
    /// The minimum time between frames in nanoseconds.
    static let interval: UInt64 = 16_666_667

    private enum State {
        /// Nothing to draw and no timer, so the program sleeps.
        case clean
        /// A frame is scheduled.
        case scheduled
        /// A frame is needed but the terminal is not ready.
        case blocked
    }

    private var state = State.clean
    private var lastFrame: UInt64 = 0
    private let isReady: () -> Bool
    private let draw: () -> Void

    init(isReady: @escaping () -> Bool, draw: @escaping () -> Void) {
        self.isReady = isReady
        self.draw = draw
    }

    /// Requests a frame.
    func setNeedsFrame() {
        guard case .clean = state else { return }
        schedule()
    }

    /// Continues when the terminal has received everything.
    func resume() {
        guard case .blocked = state else { return }
        schedule()
    }

    private func schedule() {
        state = .scheduled
        let due = DispatchTime(uptimeNanoseconds: lastFrame &+ Self.interval)
        // Always asynchronously, so that other changes in this turn of the main queue are in the same frame.
        DispatchQueue.main.asyncAfter(deadline: max(.now(), due)) { [weak self] in
            MainActor.assumeIsolated { self?.frame() }
        }
    }

    private func frame() {
        guard case .scheduled = state else { return }
        guard isReady() else {
            state = .blocked
            return
        }
        state = .clean
        lastFrame = DispatchTime.now().uptimeNanoseconds
        draw()
    }
}
