import Dispatch

/// Decides when a frame is drawn: when something is dirty, the terminal has taken the frame before, and a sixtieth of a
/// second has passed since. Whatever becomes dirty in between is in the same frame.
@MainActor
final class FrameLoop {
    /// Nanoseconds between frames, at least.
    static let interval: UInt64 = 16_666_667

    private enum State {
        /// Nothing to draw, and nothing set: the program sleeps.
        case clean
        /// A frame will be drawn at its time.
        case scheduled
        /// A frame will be drawn when the terminal is ready for it.
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

    /// Something looks different now.
    func setNeedsFrame() {
        guard case .clean = state else { return }
        schedule()
    }

    /// The terminal has taken everything.
    func noteReady() {
        guard case .blocked = state else { return }
        schedule()
    }

    private func schedule() {
        state = .scheduled
        let due = DispatchTime(uptimeNanoseconds: lastFrame &+ Self.interval)
        // Also when it is due at once: what else happens in this turn of the main queue belongs to the same frame.
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
