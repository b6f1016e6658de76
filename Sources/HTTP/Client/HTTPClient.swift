import Logging
import Synchronization

/// Runs HTTP transfers and reads local files.
///
///     let client = HTTPClient(log: log)
///     for try await event in client.transfer(HTTPRequest(url: …)) { … }
///
/// Transfers run on up to three threads around curl's multi interface: one for ordinary connections, one for
/// ``HTTPRequest/Connection/few`` and one for ``HTTPRequest/Connection/unshared``. The first transfer of each kind
/// loads curl and starts the thread. If curl cannot be loaded, the transfer fails, and the next one tries again.
///
/// The client has no limit of its own: it starts every transfer at once.
public final class HTTPClient: Sendable {
    private let configuration: HTTPConfiguration
    private let log: Log
    private let library: String
    /// The threads that run transfers. The first transfer of a kind starts its thread. Unshared transfers have a thread
    /// of their own: after an HTTP/1.1 connection to a host, a curl multi handle shares no other connection to this host.
    private let threads = Mutex<[HTTPRequest.Connection: TransferThread]>([:])
    private let numbers = Atomic<Int>(0)
    private let opener = FileOpener()
    private let ranges = RangeMemory()

    /// Creates a client. Loads nothing and starts no thread.
    public convenience init(_ configuration: HTTPConfiguration = HTTPConfiguration(), log: Log) {
        self.init(configuration, log: log, library: Curl.file)
    }

    /// - Parameter library: the file name of libcurl. Tests pass another file.
    init(_ configuration: HTTPConfiguration, log: Log, library: String) {
        (self.configuration, self.log, self.library) = (configuration, log, library)
    }

    deinit {
        threads.withLock { for thread in $0.values { thread.stop() } }
    }

    /// Starts a transfer and returns it.
    public func transfer(_ request: HTTPRequest) -> HTTPTransfer {
        if let transfer = PiecedTransfer(request, ranges, transferInOne: { self.transferInOne($0) }) {
            transfer.start()
            return transfer.handle
        }
        return transferInOne(request)
    }

    /// Stops using connections from addresses that this machine does not have any more.
    ///
    /// No data arrives over such a connection, and the system does not report that. Transfers over them end as if the
    /// caller had cancelled them.
    public func abandonConnections(from addresses: Set<String>) {
        guard !addresses.isEmpty else { return }
        threads.withLock { for thread in $0.values { thread.send(.abandon(addresses)) } }
    }

    private func transferInOne(_ request: HTTPRequest) -> HTTPTransfer {
        let mailbox = TransferMailbox()
        if FileTransfer.serves(request) {
            let transfer = FileTransfer(request, mailbox, opener)
            transfer.start()
            return HTTPTransfer(mailbox, onCancel: { transfer.cancel() }, onSpace: { transfer.resume() })
        }
        let thread: TransferThread
        do {
            thread = try threadAtWork(for: request.connection)
        } catch {
            mailbox.post(end: .failure(error))
            request.meter?.recordEnd(.failure(error))
            return HTTPTransfer(mailbox, onCancel: {})
        }
        let number = numbers.wrappingAdd(1, ordering: .relaxed).newValue
        var request = request
        request.ranges = ranges
        thread.send(.start(number, request, mailbox))
        return HTTPTransfer(
            mailbox,
            onCancel: { thread.send(.cancel(number)) },
            onSpace: { thread.send(.resume(number)) },
            onWeight: { thread.send(.weigh(number, $0)) })
    }

    /// The maximum number of transfers per connection of ``HTTPRequest/Connection/few``. With one transfer, the loss of
    /// a last packet is noticed late. With more transfers, each loss delays more transfers.
    private static let streamsOfFew = 2

    /// Returns the thread for a kind of connection. Starts the thread if necessary.
    private func threadAtWork(for connection: HTTPRequest.Connection) throws(HTTPError) -> TransferThread {
        try threads.withLock { (threads) throws(HTTPError) -> TransferThread in
            if let thread = threads[connection] { return thread }
            let streams = connection == .few ? Self.streamsOfFew : nil
            let new = try TransferThread(try Curl(file: library), configuration, streams: streams, log: log)
            try new.start()
            threads[connection] = new
            return new
        }
    }
}

/// Settings of a client that apply to all its transfers.
public struct HTTPConfiguration: Sendable {
    /// The `User-Agent` header.
    public var userAgent: String
    /// The path of a PEM file with certificates to trust instead of the system's.
    public var certificates: String?
    /// The proxies to use. The code that creates the client reads the proxies from the environment.
    public var proxies: ProxyChoice
    /// The credentials that the user has entered for proxies.
    public var proxyCredentials: ProxyCredentials
    /// The path of a netrc file, for requests without credentials.
    public var netrc: String?
    /// A client certificate for servers that require one.
    public var clientCertificate: ClientCertificate?
    /// The longest time to wait for a connection, in seconds.
    public var connectTimeout: Int
    /// The time without data after which a transfer fails, in seconds. The total time of a transfer has no limit.
    public var stallTimeout: Int
    /// The maximum number of idle connections to keep. Each needs a file descriptor. The number is enough for 64 to
    /// each of a few hosts.
    public var warmConnections = 256
    /// Fixed results of name lookups for tests, as `name:port:address`.
    var names: [String] = []

    /// Creates a configuration. The defaults are those of the program.
    public init(
        userAgent: String = "Vitrine/1.0", certificates: String? = nil,
        proxies: ProxyChoice = ProxyChoice(), proxyCredentials: ProxyCredentials = ProxyCredentials(),
        netrc: String? = nil,
        clientCertificate: ClientCertificate? = nil, connectTimeout: Int = 30, stallTimeout: Int = 30
    ) {
        self.userAgent = userAgent
        self.certificates = certificates
        self.proxies = proxies
        self.proxyCredentials = proxyCredentials
        self.netrc = netrc
        self.clientCertificate = clientCertificate
        self.connectTimeout = connectTimeout
        self.stallTimeout = stallTimeout
    }
}
