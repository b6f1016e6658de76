/// Lets news through a few times a second, however often they come, and the last of them in any case.
///
/// It waits only after something was let through. When nothing comes, nothing wakes it.
@MainActor
final class Throttle {
    /// Called when the news are due.
    var deliver: () -> Void = {}
    private let wait: @Sendable (Duration) async throws -> Void
    private var pause: Task<Void, Never>?
    /// Whether more has come during the pause.
    private var hasMore = false

    /// Between two of them.
    static let interval = Duration.milliseconds(250)

    init(wait: @escaping @Sendable (Duration) async throws -> Void) {
        self.wait = wait
    }

    deinit {
        pause?.cancel()
    }

    /// Whether it has let something through just now.
    var isPausing: Bool { pause != nil }

    /// There are news.
    func note() {
        guard !isPausing else { return hasMore = true }
        deliver()
        pause = Task { [weak self, wait] in
            try? await wait(Self.interval)
            self?.endPause()
        }
    }

    private func endPause() {
        pause = nil
        guard hasMore else { return }
        hasMore = false
        note()
    }
}
