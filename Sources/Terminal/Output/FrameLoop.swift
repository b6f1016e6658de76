import Dispatch

/// Schedules at most 60 frames a second, each only after the terminal has received the previous frame. One frame shows all
/// changes since the previous frame.
@MainActor
final class FrameLoop {
    /// The shortest time between two frames, in nanoseconds.
    static let interval: UInt64 = 16_666_667

    private enum State {
        /// No frame is needed. No timer runs, so that the program sleeps.
        case clean
        /// A frame is scheduled.
        case scheduled
        /// A frame is needed, but the terminal has not received the previous frame yet.
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

    /// Requests a frame, because something has changed.
    func setNeedsFrame() {
        guard case .clean = state else { return }
        schedule()
    }

    /// Continues after the terminal has received everything.
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
