import Logging
import Synchronization

/// Fetches things: requests in, events out. All transfers over the network run on one thread, around curl's multi
/// interface, but those over ``HTTPRequest/Connection/few`` on a second and those over ``HTTPRequest/Connection/unshared`` on
/// a third; files are read beside them.
///
///     let client = HTTPClient(log: log)
///     for try await event in client.transfer(HTTPRequest(url: …)) { … }
///
/// A thread is started with the first transfer that is for it, and curl is loaded then: who only looks at what is there waits
/// for neither. Between transfers it sleeps. Where curl cannot be loaded every transfer fails and says so, and
/// the next one tries again: by then it may have been installed. It knows nothing of what it fetches, and runs all that it is
/// given: how many that should be is for others to say.
public final class HTTPClient: Sendable {
    private let configuration: HTTPConfiguration
    private let log: Log
    private let library: String
    /// Each is here from when there is something to do for it.
    private let threads = Mutex<[Sharing: TransferThread]>([:])
    private let numbers = Atomic<Int>(0)
    private let opener = FileOpener()
    private let ranges = RangeMemory()

    /// Makes a client, which costs nothing yet.
    public convenience init(_ configuration: HTTPConfiguration = HTTPConfiguration(), log: Log) {
        self.init(configuration, log: log, library: Curl.file)
    }

    /// - Parameter library: the file that curl is in.
    init(_ configuration: HTTPConfiguration, log: Log, library: String) {
        (self.configuration, self.log, self.library) = (configuration, log, library)
    }

    deinit {
        threads.withLock { for thread in $0.values { thread.stop() } }
    }

    /// Begins to fetch.
    public func transfer(_ request: HTTPRequest) -> HTTPTransfer {
        if let transfer = PiecedTransfer(request, ranges, transferInOne: { self.transferInOne($0) }) {
            transfer.start()
            return transfer.handle
        }
        return transferInOne(request)
    }

    private func transferInOne(_ request: HTTPRequest) -> HTTPTransfer {
        let mailbox = TransferMailbox()
        if FileTransfer.serves(request) {
            let transfer = FileTransfer(request, mailbox, opener)
            transfer.start()
            return HTTPTransfer(mailbox, onCancel: { transfer.cancel() }, onRoom: { transfer.resume() })
        }
        let thread: TransferThread
        do {
            thread = try threadAtWork(for: request.connection)
        } catch {
            mailbox.post(end: .failure(error))
            request.meter?.noteEnd(.failure(error))
            return HTTPTransfer(mailbox, onCancel: {})
        }
        let number = numbers.wrappingAdd(1, ordering: .relaxed).newValue
        var request = request
        request.ranges = ranges
        thread.send(.start(number, request, mailbox))
        return HTTPTransfer(
            mailbox,
            onCancel: { thread.send(.cancel(number)) },
            onRoom: { thread.send(.resume(number)) },
            onWeight: { thread.send(.weigh(number, $0)) })
    }

    /// How connections are shared on a thread.
    private enum Sharing {
        case byMany
        case byFew
        /// On a thread of its own: of a handle that has made one connection of HTTP/1.1 to a host, curl has no other to it
        /// shared.
        case byNone

        init(_ connection: HTTPRequest.Connection) {
            switch connection {
            case .any, .fresh: self = .byMany
            case .few: self = .byFew
            case .unshared: self = .byNone
            }
        }
    }

    /// How many transfers share one of ``HTTPRequest/Connection/few``. With one alone nothing tells the server that its last
    /// packet was lost, and with more there is less to be gained by the many.
    private static let streamsOfFew = 2

    /// The thread for it, which is started if it is not there yet.
    private func threadAtWork(for connection: HTTPRequest.Connection) throws(HTTPError) -> TransferThread {
        let sharing = Sharing(connection)
        return try threads.withLock { (threads) throws(HTTPError) -> TransferThread in
            if let thread = threads[sharing] { return thread }
            let streams = sharing == .byFew ? Self.streamsOfFew : nil
            let new = try TransferThread(try Curl(file: library), configuration, streams: streams, log: log)
            try new.start()
            threads[sharing] = new
            return new
        }
    }
}

/// What holds for every transfer of a client.
public struct HTTPConfiguration: Sendable {
    /// How Vitrine calls itself to servers.
    public var userAgent: String
    /// A PEM file of certificates to trust in place of the system's.
    public var certificates: String?
    /// Which proxy leads where. What the environment says is read by the program and not here.
    public var proxies: ProxyChoice
    /// Who asks proxies, where the user has said so.
    public var proxyCredentials: ProxyCredentials
    /// A netrc file, in which hosts are looked for where a request does not say who asks.
    public var netrc: String?
    /// A certificate for servers that want one.
    public var clientCertificate: ClientCertificate?
    /// Seconds to wait for a connection.
    public var connectTimeout: Int
    /// Seconds with next to nothing coming, after which a transfer is given up. There is no limit to the whole: a slow
    /// server that keeps sending is served to the end.
    public var stallTimeout: Int
    /// How many connections that nobody uses are kept for later, each with a file descriptor: 64 to each of a few hosts.
    public var warmConnections = 256
    /// Names that lead somewhere without anybody being asked, as `name:port:address`. Tests have no other names.
    var names: [String] = []

    /// A configuration; the defaults are for real use.
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
