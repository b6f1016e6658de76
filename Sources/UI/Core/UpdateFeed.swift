/// Where changes come in from below, whatever announces them, to be handed down from the root.
///
/// A screen names what it wants to hear of; it does not hear of it here, but in `modelUpdated`, like every other screen.
/// So there is one way by which screens learn of anything.
@MainActor
final class UpdateFeed {
    /// Follows something for as long as it is kept.
    final class Subscription: Sendable {
        private let task: Task<Void, Never>

        fileprivate init(_ task: Task<Void, Never>) {
            self.task = task
        }

        deinit {
            task.cancel()
        }
    }

    /// Hands an update to the root.
    var deliver: (ModelUpdate) -> Void = { _ in }

    /// Follows a stream.
    ///
    /// - Parameter update: makes an update of each element, or nil if it is of no interest.
    func follow<Stream: AsyncSequence & Sendable>(
        _ stream: Stream, _ update: @escaping @MainActor (Stream.Element) -> ModelUpdate?
    ) -> Subscription where Stream.Failure == Never, Stream.Element: Sendable {
        Subscription(
            Task { [weak self] in
                for await element in stream {
                    guard let self else { return }
                    if let update = update(element) { self.deliver(update) }
                }
            })
    }
}
