import Concurrency
import Model
import Numbers

/// How much of a photo that is on its way is worth being drawn: a tenth more of it than the last time, and not more often
/// than twice a second.
@MainActor
final class ProgressivePreview {
    /// Called when there is enough more of it.
    var onMore: () -> Void = {}

    /// How much had come when it was to be drawn for the last time; nil if it was not yet.
    private(set) var arrived: ByteCount?
    /// How much of it has been drawn.
    var drawn: ByteCount?
    private var latest: Progress?
    private let pause: Alarm

    private static let interval = Duration.milliseconds(500)

    init(_ context: ScreenContext) {
        pause = Alarm(wait: context.wait)
    }

    /// Another photo is looked at.
    func beginAnew() {
        pause.cancel()
        (latest, arrived, drawn) = (nil, nil, nil)
    }

    /// Takes in how much has come; nil when nothing comes any more.
    func note(_ progress: Progress?) {
        latest = progress
        guard !pause.isSet else { return }
        takeLatest()
    }

    /// Without a whole there is no tenth of it.
    private func takeLatest() {
        guard let latest, let total = latest.total, latest.done - (arrived ?? 0) >= max(1, total / 10) else { return }
        arrived = latest.done
        pause.set(after: Self.interval) { [weak self] in self?.goOn() }
    }

    private func goOn() {
        let before = arrived
        takeLatest()
        if arrived != before { onMore() }
    }
}
