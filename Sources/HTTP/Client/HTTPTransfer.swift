/// A transfer under way: events to iterate over, and a way to stop it.
///
///     for try await event in client.transfer(request) { … }
///
/// It throws an ``HTTPError``, or a `CancellationError` once it was cancelled: by ``cancel()``, by the cancellation of
/// the task that iterates, or by letting it go. One iteration a transfer; a slow one makes the server wait.
public final class HTTPTransfer: AsyncSequence, Sendable {
    private let mailbox: TransferMailbox
    private let onCancel: @Sendable () -> Void
    private let onRoom: @Sendable () -> Void
    private let onWeight: @Sendable (Int) -> Void
    private let onPieces: @Sendable (HTTPRequest.Pieces) -> Void

    init(
        _ mailbox: TransferMailbox, onCancel: @escaping @Sendable () -> Void,
        onRoom: @escaping @Sendable () -> Void = {}, onWeight: @escaping @Sendable (Int) -> Void = { _ in },
        onPieces: @escaping @Sendable (HTTPRequest.Pieces) -> Void = { _ in }
    ) {
        self.mailbox = mailbox
        self.onCancel = onCancel
        self.onRoom = onRoom
        self.onWeight = onWeight
        self.onPieces = onPieces
    }

    deinit {
        onCancel()
    }

    /// Stops the transfer. It can be repeated, and does nothing after the end.
    public func cancel() {
        mailbox.post(end: .failure(CancellationError()))
        // Whoever hears of the end may have the rest sent to the same file.
        onCancel()
        mailbox.tell()
    }

    /// Changes the transfer's share of its HTTP/2 connection, from 1 to 256, while it runs. The server hears of it when the
    /// next bytes have come. Over HTTP/1.1 it does nothing.
    public func setWeight(_ weight: Int) {
        onWeight(weight)
    }

    /// Changes in what pieces what has not been asked for is asked for, where it comes in pieces.
    public func setPieces(_ pieces: HTTPRequest.Pieces) {
        onPieces(pieces)
    }

    /// Iterates over the events.
    public func makeAsyncIterator() -> Iterator {
        Iterator(transfer: self)
    }

    /// Waits for one event after the other.
    public struct Iterator: AsyncIteratorProtocol {
        let transfer: HTTPTransfer

        /// The next event; nil after the end.
        public mutating func next() async throws -> HTTPEvent? {
            try await transfer.next()
        }
    }

    private func next() async throws -> HTTPEvent? {
        while true {
            if Task.isCancelled {
                // Before anybody hears that it is over: he may have the rest sent to the same file.
                cancel()
                throw CancellationError()
            }
            switch try mailbox.take() {
            case .event(let event, let isRoomMade):
                if isRoomMade { onRoom() }
                return event
            case .nothingMore:
                return nil
            case .nothingYet:
                await withTaskCancellationHandler {
                    await mailbox.waitForNews()
                } onCancel: {
                    cancel()
                }
            }
        }
    }
}
