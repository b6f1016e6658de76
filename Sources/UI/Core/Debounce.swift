import Model

/// Where the cursor rests: the photo that was selected, and for a moment no other. Who holds a key down goes over hundreds of
/// photos, and none of them is to be drawn large for it.
@MainActor
final class Debounce {
    /// Called when the cursor has come to rest on another photo.
    var onRest: () -> Void = {}
    /// The photo that it rests on, or has rested on last.
    private(set) var photo: PhotoKey?
    private var latest: PhotoKey?
    private var pause: Task<Void, Never>?
    private let wait: @Sendable (Duration) async throws -> Void

    /// How long it has to be left alone.
    static let interval = Duration.milliseconds(120)

    init(wait: @escaping @Sendable (Duration) async throws -> Void) {
        self.wait = wait
    }

    deinit {
        pause?.cancel()
    }

    /// Takes in what is selected. The first photo is not kept waiting.
    func note(_ selected: PhotoKey?) {
        guard selected != latest else { return }
        latest = selected
        pause?.cancel()
        pause = nil
        guard photo != nil, selected != nil else { return photo = selected }
        guard selected != photo else { return }
        pause = Task { [weak self, wait] in
            guard (try? await wait(Self.interval)) != nil, !Task.isCancelled else { return }
            self?.settle()
        }
    }

    private func settle() {
        pause = nil
        photo = latest
        onRest()
    }
}
