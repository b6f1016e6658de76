import CCurl
import Numbers

/// One request and its answer: an easy handle, and the head of what came. A transfer has one for each hop, and each begins
/// with nothing of the one before. Touched on the network's thread only.
final class Exchange {
    let plan: ExchangePlan
    let easy: EasyHandle
    private(set) var head = ResponseHead()
    /// Whether a connection stands and the request went out over it. What comes before is a proxy's word.
    private(set) var isRequested = false
    /// Whether it was given a connection on which there was something already that nobody had asked for.
    private(set) var isMisled = false
    /// Whether nothing has been asked for over its connection.
    private var isConnectionNew = false
    private var clock: TransferClock
    private var check: AddressCheck
    /// Who is told of what comes. It owns this exchange.
    private unowned let transfer: EasyTransfer
    /// curl keeps the list's address and not a copy.
    private var headerList: UnsafeMutablePointer<curl_slist>?
    private var nameList: UnsafeMutablePointer<curl_slist>?
    private let errorText: UnsafeMutablePointer<CChar>

    init(_ plan: ExchangePlan, of transfer: EasyTransfer, _ configuration: HTTPConfiguration) throws(HTTPError) {
        check = try AddressCheck(plan, configuration)
        let curl = plan.hop.url.curl
        let easy = try EasyHandle(curl)
        self.plan = plan
        self.transfer = transfer
        self.easy = easy
        // Not before: what is thrown until here ends without a `deinit`.
        errorText = .allocate(capacity: Int(CURL_ERROR_SIZE))
        clock = TransferClock(transfer.request.meter, isBehindProxy: plan.proxy != nil)
        errorText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
        EasyOptions.apply(plan, configuration, to: easy)
        for line in RequestHeaders.lines(of: plan.request, at: plan.hop) {
            headerList = ccurl_slist_append(curl.functions, headerList, line)
        }
        easy.set(CURLOPT_HTTPHEADER, headerList)
        for name in configuration.names { nameList = ccurl_slist_append(curl.functions, nameList, name) }
        if nameList != nil { easy.set(CURLOPT_RESOLVE, nameList) }
        easy.set(CURLOPT_ERRORBUFFER, errorText)
        let context = Unmanaged.passUnretained(self).toOpaque()
        easy.set(CURLOPT_PRIVATE, Unmanaged.passUnretained(transfer).toOpaque())
        applyBodyCallbacks(context)
        applyConnectionCallbacks(context)
        applyProgressCallbacks(context)
    }

    deinit {
        easy.free()
        ccurl_slist_free_all(easy.curl.functions, headerList)
        ccurl_slist_free_all(easy.curl.functions, nameList)
        errorText.deallocate()
    }

    var hop: Hop { plan.hop }

    /// The answer's status; before there can be one, the proxy's, where it was asked for a tunnel.
    var status: Int {
        guard !isRequested else { return isRefusedByTinyproxy ? 407 : easy.long(CURLINFO_RESPONSE_CODE) }
        let status = easy.long(CURLINFO_HTTP_CONNECTCODE)
        // Where there is no server yet it is the proxy that asks, also if it says so in a server's words, as tinyproxy
        // does to a wrong password.
        return status == 401 ? 407 : status
    }

    /// Whether the proxy refused to make a tunnel.
    var isTunnelRefused: Bool { plan.proxy != nil && !isRequested && status >= 300 }

    /// Whether it is tinyproxy that does not believe who asks, as it says in a server's words, where it was to pass on a
    /// request too. It gives its name; what comes from others through it has a line that says so.
    private var isRefusedByTinyproxy: Bool {
        plan.proxyCredentials != nil && !hop.url.isSecure && easy.long(CURLINFO_RESPONSE_CODE) == 401
            && head.headers["server"]?.hasPrefix("tinyproxy/") == true && head.headers["via"] == nil
    }

    /// The proxy that wants to know who asks, if one does.
    var proxyRefusal: ProxyRefusal? {
        guard status == 407, let proxy = plan.proxy else { return nil }
        return ProxyRefusal(proxy: proxy.url, wasTold: plan.proxyCredentials != nil)
    }

    /// Whether nothing came in return for the request.
    var isUnanswered: Bool { isRequested && head.isEmpty }

    /// What the server, and the proxy, had on offer when a password was asked for.
    var serverOffer: Authentication.Methods { .init(rawValue: easy.long(CURLINFO_HTTPAUTH_AVAIL)) }
    var proxyOffer: Authentication.Methods { .init(rawValue: easy.long(CURLINFO_PROXYAUTH_AVAIL)) }

    /// Who wants to know who asks. A 407 that comes from no proxy is nobody's question.
    var challenges: [HTTPChallenge] {
        let isProxy = status == 407
        guard status == 401 || isProxy && plan.proxy != nil else { return [] }
        return HTTPChallenge.all(
            in: head.challenges.filter { isTunnelRefused || isRefusedByTinyproxy || $0.isProxy == isProxy }.map(\.text),
            isProxy: isProxy)
    }

    /// What is known of it, after it has failed.
    func report(on code: CURLcode) -> BreakReport {
        let verdict = easy.long(CURLINFO_SSL_VERIFYRESULT)
        return BreakReport(
            code: code, meaning: String(cString: ccurl_easy_strerror(easy.curl.functions, code)),
            detail: Proxy.withoutCredentials(String(cString: errorText), plan.proxyCredentials), host: hop.url.place,
            proxy: plan.proxy?.url, isLookedUp: easy.seconds(CURLINFO_NAMELOOKUP_TIME_T) > 0,
            seconds: easy.seconds(CURLINFO_TOTAL_TIME_T),
            isConnected: easy.long(CURLINFO_NUM_CONNECTS) > 0, isRequested: isRequested,
            isUnanswered: isUnanswered, isHeadComplete: head.isComplete, systemError: easy.long(CURLINFO_OS_ERRNO),
            lacksDescriptors: !isRequested && (check.lacksDescriptors || DescriptorProbe.findsNone),
            verdict: verdict != 0 ? verdict : easy.long(CURLINFO_PROXY_SSL_VERIFYRESULT),
            proxyVerdict: easy.long(CURLINFO_PROXY_ERROR))
    }

    /// Packets that came over its connection. Where a proxy is on the way it is the proxy that acknowledges them.
    var packets: TransferMeter.Packets? {
        var packets = transfer.connections.advance(ConnectionEnds(easy))
        if plan.proxy != nil { packets?.roundTrip = nil }
        return packets
    }

    /// The length that the body is said to have on the network; nil if nothing is said.
    var networkLength: ByteCount? { easy.count(CURLINFO_CONTENT_LENGTH_DOWNLOAD_T) }

    /// Whether the other end is on this machine or in the user's own network.
    var isPrivate: Bool { check.isPrivate }

    /// Whether a request went to a public address.
    var hasReachedPublic: Bool { check.hasReachedPublic }

    /// Whether it failed for the sake of an address that must not be reached.
    var wasRefusedAnAddress: Bool { check.hasRefused && !isRequested }

    // MARK: - Callbacks

    private func applyBodyCallbacks(_ context: UnsafeMutableRawPointer) {
        easy.set(CURLOPT_WRITEDATA, context)
        easy.set(CURLOPT_WRITEFUNCTION) { bytes, size, count, context in
            guard let exchange = Exchange.at(context) else { return 0 }
            return exchange.transfer.take(UnsafeRawBufferPointer(start: bytes, count: size * count), of: exchange)
        }
        easy.set(CURLOPT_HEADERDATA, context)
        easy.set(CURLOPT_HEADERFUNCTION) { bytes, size, count, context in
            guard let exchange = Exchange.at(context) else { return 0 }
            return exchange.takeHeader(UnsafeRawBufferPointer(start: bytes, count: size * count))
        }
    }

    private func applyConnectionCallbacks(_ context: UnsafeMutableRawPointer) {
        easy.set(CURLOPT_OPENSOCKETDATA, context)
        easy.setOpenSocket { context, _, address in
            guard let exchange = Exchange.at(context), let address else { return curl_socket_t(-1) }
            // A request that is sent once more, with a password, may need another connection.
            exchange.isRequested = false
            exchange.isConnectionNew = true
            let socket = exchange.check.open(address)
            if socket != CURL_SOCKET_BAD { exchange.transfer.connections.note(socket) }
            return socket
        }
        easy.set(CURLOPT_PREREQDATA, context)
        easy.setBeforeRequest { context, remote, local, remotePort, localPort in
            guard let exchange = Exchange.at(context), let remote, let local else { return CURL_PREREQFUNC_ABORT }
            let address = String(cString: remote)
            let ends = ConnectionEnds(
                from: String(cString: local), port: Int(clamping: localPort), to: address,
                port: Int(clamping: remotePort))
            return exchange.noteRequest(to: address, over: ends) ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT
        }
    }

    private func applyProgressCallbacks(_ context: UnsafeMutableRawPointer) {
        easy.set(CURLOPT_NOPROGRESS, 0)
        easy.set(CURLOPT_XFERINFODATA, context)
        easy.setProgress { context, _, received, _, _ in
            guard let exchange = Exchange.at(context) else { return 1 }
            return exchange.transfer.noteProgress(ByteCount(received)) ? 0 : 1
        }
    }

    /// A connection stands, and a request is about to go out over it. Returns false if it must not.
    private func noteRequest(to address: String, over ends: ConnectionEnds) -> Bool {
        // What lies there, behind an answer that was longer than it said, would be taken for the answer to this request. Over
        // TLS something may lie there by rights: a server's word about the session, or about other streams.
        isMisled = !isConnectionNew && !hop.url.isSecure && transfer.connections.hasUnread(ends)
        isConnectionNew = false
        isRequested = !isMisled && check.allows(address)
        guard isRequested else { return false }
        // What a proxy said of its tunnel, or a server that wanted a password, is no part of the answer.
        head = ResponseHead()
        EasyOptions.setWeight(transfer.weight, of: easy)
        clock.noteRequest(easy)
        return true
    }

    private func takeHeader(_ bytes: UnsafeRawBufferPointer) -> Int {
        guard head.take(bytes) else { return transfer.abort(.malformed("its headers are too long")) }
        guard isRequested, head.isComplete else { return bytes.count }
        guard !head.hasTwoLengths else { return transfer.abort(.malformed("it has two lengths")) }
        if let length = head.declaredLength {
            // Compression only makes it smaller: what is too long on the way is so afterwards.
            let limit = transfer.request.limit
            guard length <= limit else { return transfer.abort(.tooLarge(limit: limit)) }
            transfer.note(length: length)
        }
        // After the length: who hears that there is an answer asks how long it is.
        clock.noteAnswer(easy)
        return bytes.count
    }

    private static func at(_ context: UnsafeMutableRawPointer?) -> Exchange? {
        context.map { Unmanaged<Exchange>.fromOpaque($0).takeUnretainedValue() }
    }
}

/// Reads curl's times of one transfer, and tells its meter.
///
/// curl adds up: when it sends a request again, with a password, what the second one took is added to what the first
/// took. So the sums are noted each time a request goes out, and only what was added since is told.
struct TransferClock {
    private let meter: TransferMeter?
    /// Whether it is a proxy that curl connects to.
    private let isBehindProxy: Bool
    private var connects = 0
    /// The sums when the last request went out, in seconds.
    private var (connecting, waiting) = (0.0, 0.0)
    private var isAnswered = false

    init(_ meter: TransferMeter?, isBehindProxy: Bool) {
        self.meter = meter
        self.isBehindProxy = isBehindProxy
    }

    /// A connection stands, and a request is about to go out over it.
    mutating func noteRequest(_ easy: EasyHandle) {
        guard let meter else { return }
        let count = easy.long(CURLINFO_NUM_CONNECTS)
        let spent = easy.seconds(CURLINFO_CONNECT_TIME_T) - easy.seconds(CURLINFO_NAMELOOKUP_TIME_T)
        let isOfHost = count > connects && !isBehindProxy
        meter.noteConnected(isOfHost ? max(0, spent - connecting) : nil)
        (connects, connecting, waiting) = (count, spent, Self.wait(easy))
        isAnswered = false
    }

    /// An answer's head is there; the first of them counts.
    mutating func noteAnswer(_ easy: EasyHandle) {
        guard let meter, !isAnswered else { return }
        isAnswered = true
        let version: TransferMeter.Version = easy.long(CURLINFO_HTTP_VERSION) >= CURL_HTTP_VERSION_2_0 ? .http2 : .http1
        meter.noteAnswered(after: max(0, Self.wait(easy) - waiting), version: version)
    }

    private static func wait(_ easy: EasyHandle) -> Double {
        easy.seconds(CURLINFO_STARTTRANSFER_TIME_T) - easy.seconds(CURLINFO_PRETRANSFER_TIME_T)
    }
}
