import Logging
import Synchronization

/// Fetches things: requests in, events out. All transfers over the network run on one thread, around curl's multi
/// interface; files are read beside it.
///
///     let client = HTTPClient(log: log)
///     for try await event in client.transfer(HTTPRequest(url: …)) { … }
///
/// Without a transfer the thread sleeps until there is one. It knows nothing of what it fetches, and runs all that it is
/// given: how many that should be is for others to say.
public final class HTTPClient: Sendable {
    private let thread: TransferThread
    private let numbers = Atomic<Int>(0)

    /// Starts the thread.
    public init(_ configuration: HTTPConfiguration = HTTPConfiguration(), log: Log) {
        thread = TransferThread(configuration, log: log)
        thread.start()
    }

    deinit {
        thread.stop()
    }

    /// Begins to fetch.
    public func transfer(_ request: HTTPRequest) -> HTTPTransfer {
        let mailbox = TransferMailbox()
        if FileTransfer.serves(request) {
            let transfer = FileTransfer(request, mailbox)
            transfer.start()
            return HTTPTransfer(
                mailbox, onCancel: { transfer.cancel() }, onRoom: { transfer.resume() }, onWeight: { _ in })
        }
        let number = numbers.wrappingAdd(1, ordering: .relaxed).newValue
        thread.send(.start(number, request, mailbox))
        return HTTPTransfer(
            mailbox,
            onCancel: { [thread] in thread.send(.cancel(number)) },
            onRoom: { [thread] in thread.send(.resume(number)) },
            onWeight: { [thread] in thread.send(.weigh(number, $0)) })
    }
}
