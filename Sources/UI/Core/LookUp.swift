import Concurrency

/// Runs a slow query off the main actor, at most a few times a second. Only one query runs at a time.
///
///     lookUp = LookUp(wait: context.wait)
///     lookUp.begin = { [caches] in { caches.openCaches.count } }
///     lookUp.onFound = { count in … }
///     lookUp.setNeedsUpdate()
@MainActor
final class LookUp<Value: Sendable> {
    /// Returns the query to run off the main actor, or nil to skip the query.
    var begin: () -> (@Sendable () -> Value)? = { nil }
    /// Called with the result of the query.
    var onFound: (Value) -> Void = { _ in }
    private let throttle: Throttle
    private var state = State.idle

    private enum State {
        case idle, running
        /// A query runs, and something has changed since its start.
        case outdated
    }

    init(wait: @escaping Wait) {
        throttle = Throttle(wait: wait)
        throttle.action = { [weak self] in self?.look() }
    }

    /// Runs the query soon, because something has changed.
    func setNeedsUpdate() { throttle.signal() }

    /// Runs the query now, or again after the running query has ended.
    func look() {
        guard case .idle = state else { return state = .outdated }
        guard let query = begin() else { return }
        state = .running
        Task.detached { [weak self] in
            let value = query()
            await self?.take(value)
        }
    }

    private func take(_ value: Value) {
        let isOutdated = if case .outdated = state { true } else { false }
        state = .idle
        onFound(value)
        if isOutdated { look() }
    }
}
