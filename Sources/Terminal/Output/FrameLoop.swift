import Dispatch

/// Schedules frames, each only after the terminal has received the previous one.
///
/// One frame shows all changes since the previous frame. The user's input causes at most 60 frames a second, and so do all
/// other changes. The two limits are separate, so a video does not delay keys.
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
    /// When the last frame after the user's input was drawn.
    private var lastAnswer: UInt64 = 0
    /// Whether the next frame follows the user's input.
    private var isAnswer = false
    /// The number of scheduled frames. An earlier frame may replace the scheduled one.
    private var number = 0
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

    /// Draws the next frame sooner, because the user's input may have caused it.
    func inputArrived() {
        isAnswer = true
        if case .scheduled = state { schedule() }
    }

    /// Continues after the terminal has received everything.
    func resume() {
        guard case .blocked = state else { return }
        schedule()
    }

    private func schedule() {
        state = .scheduled
        number &+= 1
        let due = DispatchTime(uptimeNanoseconds: (isAnswer ? lastAnswer : lastFrame) &+ Self.interval)
        // Always asynchronously, so that other changes in this turn of the main queue are in the same frame.
        DispatchQueue.main.asyncAfter(deadline: max(.now(), due)) { [weak self, number] in
            MainActor.assumeIsolated { self?.frame(number) }
        }
    }

    private func frame(_ number: Int) {
        guard case .scheduled = state, number == self.number else { return }
        guard isReady() else {
            state = .blocked
            return
        }
        state = .clean
        lastFrame = DispatchTime.now().uptimeNanoseconds
        if isAnswer { (lastAnswer, isAnswer) = (lastFrame, false) }
        draw()
    }
}
