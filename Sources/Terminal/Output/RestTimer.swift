import Dispatch

/// Tells when nothing has happened for a moment.
@MainActor
final class RestTimer {
    /// Longer than between two frames, so that who keeps a key down is not at rest.
    static let pause = DispatchTimeInterval.milliseconds(30)

    /// Which beginning is the last; those before it have no end.
    private var generation = 0
    /// Whether its end is still to come.
    private var isWaiting = false
    private let onRest: () -> Void

    init(onRest: @escaping () -> Void) {
        self.onRest = onRest
    }

    /// Begins to wait, and forgets that it waited before.
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

    /// Begins to wait, unless it does already.
    func goOn() {
        if !isWaiting { begin() }
    }

    /// Waits no longer.
    func cancel() {
        generation += 1
        isWaiting = false
    }
}

extension DispatchTimeInterval {
    static let zero = DispatchTimeInterval.nanoseconds(0)
}
