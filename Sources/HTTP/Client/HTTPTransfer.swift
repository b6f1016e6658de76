/// A running transfer. The caller iterates over the transfer's events, or cancels the transfer.
///
///     for try await event in client.transfer(request) { … }
///
/// The iteration throws an ``HTTPError``. It throws `CancellationError` after ``cancel()``, after a cancellation of its
/// task, after the transfer was released, or after ``HTTPClient/abandonConnections(from:)``. Only one iteration is
/// allowed. A slow iteration makes the server wait.
public final class HTTPTransfer: AsyncSequence, Sendable {
    private let mailbox: TransferMailbox
    private let onCancel: @Sendable () -> Void
    private let onSpace: @Sendable () -> Void
    private let onWeight: @Sendable (Int) -> Void
    private let onPieces: @Sendable (HTTPRequest.Pieces) -> Void

    init(
        _ mailbox: TransferMailbox, onCancel: @escaping @Sendable () -> Void,
        onSpace: @escaping @Sendable () -> Void = {}, onWeight: @escaping @Sendable (Int) -> Void = { _ in },
        onPieces: @escaping @Sendable (HTTPRequest.Pieces) -> Void = { _ in }
    ) {
        self.mailbox = mailbox
        self.onCancel = onCancel
        self.onSpace = onSpace
        self.onWeight = onWeight
        self.onPieces = onPieces
    }

    deinit {
        onCancel()
    }

    /// Cancels the transfer. Does nothing after its end.
    public func cancel() {
        mailbox.post(end: .failure(CancellationError()))
        // The mailbox closes first, because after the end the caller may resume the transfer into the same file.
        onCancel()
        mailbox.wake()
    }

    /// Changes the transfer's priority on an HTTP/2 connection, from 1 to 256. Has no effect over HTTP/1.1.
    ///
    /// The server receives the change after the next bytes of the body.
    public func setWeight(_ weight: Int) {
        onWeight(weight)
    }

    /// Changes the size, window and number of pieces for the rest of the body.
    public func setPieces(_ pieces: HTTPRequest.Pieces) {
        onPieces(pieces)
    }

    /// Creates an iterator over the events.
    public func makeAsyncIterator() -> Iterator {
        Iterator(transfer: self)
    }

    /// Waits for the events of a transfer one by one.
    public struct Iterator: AsyncIteratorProtocol {
        let transfer: HTTPTransfer

        /// Returns the next event. Returns nil after the end.
        public mutating func next() async throws -> HTTPEvent? {
            try await transfer.next()
        }
    }

    private func next() async throws -> HTTPEvent? {
        while true {
            if Task.isCancelled {
                // The mailbox must be closed before the caller learns of the end and resumes into the same file.
                cancel()
                throw CancellationError()
            }
            switch try mailbox.take() {
            case .event(let event, let isSpaceFreed):
                if isSpaceFreed { onSpace() }
                return event
            case .nothingMore:
                return nil
            case .nothingYet:
                await withTaskCancellationHandler {
                    await mailbox.waitForEvent()
                } onCancel: {
                    cancel()
                }
            }
        }
    }
}
