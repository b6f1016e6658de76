import Dispatch

/// Calls a closure when nothing has happened for a moment.
@MainActor
final class RestTimer {
    /// The default pause. The pause is longer than a frame, so that a key held down does not count as rest.
    static let pause = DispatchTimeInterval.milliseconds(30)

    /// The number of the latest start. Timers of earlier starts have no effect.
    private var generation = 0
    /// Whether the timer is running.
    private var isWaiting = false
    private let onRest: () -> Void

    init(onRest: @escaping () -> Void) {
        self.onRest = onRest
    }

    /// Starts the wait, or restarts it.
    func begin(after pause: DispatchTimeInterval = RestTimer.pause) {
        generation += 1
        isWaiting = true
        let begun = generation
        DispatchQueue.main.asyncAfter(deadline: .now() + pause) { [weak self] in
            MainActor.assumeIsolated {
                guard let self, self.generation == begun else { return }
                self.isWaiting = false
                self.onRest()
            }
        }
    }

    /// Starts the wait, unless the timer is running.
    func goOn() {
        if !isWaiting { begin() }
    }

    /// Cancels the wait.
    func cancel() {
        generation += 1
        isWaiting = false
    }
}

extension DispatchTimeInterval {
    static let zero = DispatchTimeInterval.nanoseconds(0)
}
