import Concurrency

/// Looks something up that takes a while, out of the screens' way: a few times a second at most, however often there are
/// news, and one look at a time.
///
///     lookUp = LookUp(wait: context.wait)
///     lookUp.begin = { [caches] in { caches.openCaches.count } }
///     lookUp.onFound = { count in … }
///     lookUp.noteNews()
@MainActor
final class LookUp<Value: Sendable> {
    /// Takes from the screen what a look needs, and returns the look itself. That is not on the main actor.
    var begin: () -> (@Sendable () -> Value)? = { nil }
    /// Called with what was found.
    var onFound: (Value) -> Void = { _ in }
    private let pace: Throttle
    private var state = State.idle

    private enum State {
        case idle, looking
        /// Something has changed since that began.
        case lookingAndToLookAgain
    }

    init(wait: @escaping Wait) {
        pace = Throttle(wait: wait)
        pace.action = { [weak self] in self?.look() }
    }

    /// Something has changed.
    func noteNews() { pace.signal() }

    /// Looks now: somebody waits for it.
    func look() {
        guard case .idle = state else { return state = .lookingAndToLookAgain }
        guard let look = begin() else { return }
        state = .looking
        Task.detached { [weak self] in
            let value = look()
            await self?.take(value)
        }
    }

    private func take(_ value: Value) {
        let isOutdated = if case .lookingAndToLookAgain = state { true } else { false }
        state = .idle
        onFound(value)
        if isOutdated { look() }
    }
}
