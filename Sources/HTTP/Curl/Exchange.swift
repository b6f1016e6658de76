import CCurl
import Numbers

/// One request and its answer. Used on the network's thread only.
///
/// A transfer has one exchange for each request, redirect or repeat. Each exchange has an easy handle of its own.
final class Exchange {
    /// The plan of the request. The transfer makes the next exchange's plan from this plan.
    let plan: ExchangePlan
    /// curl's easy handle, which the transfer thread adds to its multi handle.
    let easy: EasyHandle
    /// The head of the answer, as far as it has arrived.
    private(set) var head = ResponseHead()
    /// Whether curl has sent the request over a connection. Headers that arrive earlier come from a proxy.
    private(set) var isRequested = false
    /// Whether a reused connection held unexpected bytes.
    private(set) var isMisled = false
    /// Whether curl wanted to send a POST again. The server had then closed the connection without an answer.
    private(set) var isRepeatRefused = false
    /// Whether curl has sent the request and received nothing since.
    private var isAnswerDue = false
    /// Whether no request has been sent over the connection yet.
    private var isConnectionNew = false
    private var clock: TransferClock
    private var check: AddressCheck
    /// The transfer that owns the exchange and receives its events.
    private unowned let transfer: EasyTransfer
    /// The list of headers. curl keeps its address and makes no copy.
    private var headerList: UnsafeMutablePointer<curl_slist>?
    private var nameList: UnsafeMutablePointer<curl_slist>?
    /// The request's body. curl keeps its address and makes no copy.
    private let body: UnsafeMutableBufferPointer<UInt8>?
    private let errorText: UnsafeMutablePointer<CChar>
    /// The lines of the answer's head so far, for the log.
    private var loggedHead = ""
    /// The number of bytes of the request's file that curl has taken.
    private var taken: ByteCount = 0
    /// The socket of an upload's connection; nil before the connection.
    private var socket: curl_socket_t?

    init(_ plan: ExchangePlan, of transfer: EasyTransfer, _ configuration: HTTPConfiguration) throws(HTTPError) {
        check = try AddressCheck(plan, configuration)
        let curl = plan.hop.url.curl
        let easy = try EasyHandle(curl)
        self.plan = plan
        self.transfer = transfer
        self.easy = easy
        // This memory is allocated after all calls that may throw, because no `deinit` runs after a thrown error.
        errorText = .allocate(capacity: Int(CURL_ERROR_SIZE))
        body = MethodOptions.body(of: plan.request)
        clock = TransferClock(
            transfer.request.meter, isBehindProxy: plan.proxy != nil, isUpload: plan.request.upload != nil)
        errorText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
        EasyOptions.apply(plan, configuration, to: easy)
        MethodOptions.apply(plan.request, body, to: easy)
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
        if plan.request.upload != nil { applyUploadCallbacks(context) }
        if transfer.log.keepsExchanges(with: plan.hop.url.origin.host) { applyLogCallbacks(context) }
    }

    deinit {
        easy.free()
        ccurl_slist_free_all(easy.curl.functions, headerList)
        ccurl_slist_free_all(easy.curl.functions, nameList)
        errorText.deallocate()
        body?.deallocate()
    }

    var hop: Hop { plan.hop }

    /// The HTTP status of the answer. If a proxy refuses a tunnel, this is the status of the proxy's answer.
    var status: Int {
        guard !isRequested else { return isRefusedByTinyproxy ? 407 : easy.long(CURLINFO_RESPONSE_CODE) }
        let status = easy.long(CURLINFO_HTTP_CONNECTCODE)
        // Before the request reaches a server, a 401 comes from the proxy: tinyproxy sends the status that a server
        // would send.
        return status == 401 ? 407 : status
    }

    /// Whether the proxy refused to open a tunnel.
    var isTunnelRefused: Bool { plan.proxy != nil && !isRequested && status >= 300 }

    /// Whether the proxy tinyproxy refused the credentials of a forwarded request. The answer then has a server's
    /// status 401, and its `Server` header names tinyproxy. Answers of other servers have a `Via` line.
    private var isRefusedByTinyproxy: Bool {
        plan.proxyCredentials != nil && !hop.url.isSecure && easy.long(CURLINFO_RESPONSE_CODE) == 401
            && head.headers["server"]?.hasPrefix("tinyproxy/") == true && head.headers["via"] == nil
    }

    /// The proxy that requests credentials; nil if no proxy does.
    var proxyRefusal: ProxyRefusal? {
        guard status == 407, let proxy = plan.proxy else { return nil }
        return ProxyRefusal(proxy: proxy.url, wasTold: plan.proxyCredentials != nil)
    }

    /// Whether the server sent no answer to the request.
    var isUnanswered: Bool { isRequested && head.isEmpty }

    /// The authentication methods that the server offered.
    var serverOffer: Authentication.Methods { .init(rawValue: easy.long(CURLINFO_HTTPAUTH_AVAIL)) }
    var proxyOffer: Authentication.Methods { .init(rawValue: easy.long(CURLINFO_PROXYAUTH_AVAIL)) }

    /// The requests for credentials in the answer. The list is empty for a 407 without a proxy.
    var challenges: [HTTPChallenge] {
        let isProxy = status == 407
        guard status == 401 || isProxy && plan.proxy != nil else { return [] }
        return HTTPChallenge.all(
            in: head.challenges.filter { isTunnelRefused || isRefusedByTinyproxy || $0.isProxy == isProxy }.map(\.text),
            isProxy: isProxy)
    }

    /// Collects the facts about a failure of the exchange.
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

    /// The packets that arrived over the connection. Behind a proxy the round trip is unknown, because the proxy
    /// acknowledges the packets.
    var packets: TransferMeter.Packets? {
        var packets = transfer.connections.advance(ConnectionEnds(easy), isUpload: plan.request.upload != nil)
        if plan.proxy != nil { packets?.roundTrip = nil }
        return packets
    }

    /// The stated length of the body before decompression; nil if unknown.
    var networkLength: ByteCount? { easy.count(CURLINFO_CONTENT_LENGTH_DOWNLOAD_T) }

    /// Whether the answer came from this machine or the user's network.
    var isPrivate: Bool { check.isPrivate }

    /// Whether this exchange sent its request to a public address.
    var hasReachedPublic: Bool { check.hasReachedPublic }

    /// Whether the exchange failed because the address policy forbids the address.
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
            // A repeat with a password may need another connection, on which the request is not sent yet.
            exchange.isRequested = false
            exchange.isConnectionNew = true
            let socket = exchange.check.open(address)
            if socket != CURL_SOCKET_BAD { exchange.transfer.connections.add(socket) }
            return socket
        }
        easy.set(CURLOPT_PREREQDATA, context)
        easy.setBeforeRequest { context, remote, local, remotePort, localPort in
            guard let exchange = Exchange.at(context), let remote, let local else { return CURL_PREREQFUNC_ABORT }
            let address = String(cString: remote)
            let ends = ConnectionEnds(
                from: String(cString: local), port: Int(clamping: localPort), to: address,
                port: Int(clamping: remotePort))
            return exchange.recordRequest(to: address, over: ends) ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT
        }
    }

    private func applyProgressCallbacks(_ context: UnsafeMutableRawPointer) {
        easy.set(CURLOPT_NOPROGRESS, 0)
        easy.set(CURLOPT_XFERINFODATA, context)
        easy.setProgress { context, _, received, _, sent in
            guard let exchange = Exchange.at(context) else { return 1 }
            let unacknowledged = exchange.transfer.connections.unacknowledged(exchange.socket)
            return exchange.transfer.updateProgress(
                ByteCount(received), acknowledged: ByteCount(sent) - unacknowledged) ? 0 : 1
        }
    }

    private func applyUploadCallbacks(_ context: UnsafeMutableRawPointer) {
        easy.set(CURLOPT_READDATA, context)
        easy.set(CURLOPT_READFUNCTION) { bytes, size, count, context in
            guard let exchange = Exchange.at(context) else { return Int(CURL_READFUNC_ABORT) }
            return exchange.give(UnsafeMutableRawBufferPointer(start: bytes, count: size * count))
        }
        // curl reads the file again from an offset when it repeats the request, such as over another connection.
        easy.set(CURLOPT_SEEKDATA, context)
        easy.setSeek { context, offset, origin in
            guard let exchange = Exchange.at(context), origin == SEEK_SET else { return Int32(CURL_SEEKFUNC_FAIL) }
            exchange.taken = ByteCount(offset)
            return Int32(CURL_SEEKFUNC_OK)
        }
    }

    /// Makes curl pass on the heads of requests and answers. The exchange logs them as curl sends and receives them.
    private func applyLogCallbacks(_ context: UnsafeMutableRawPointer) {
        easy.set(CURLOPT_VERBOSE, 1)
        easy.set(CURLOPT_DEBUGDATA, context)
        easy.setDebug { _, kind, bytes, count, context in
            guard kind == CURLINFO_HEADER_OUT || kind == CURLINFO_HEADER_IN, let bytes,
                let exchange = Exchange.at(context)
            else { return 0 }
            let text = String(decoding: UnsafeRawBufferPointer(start: bytes, count: count), as: UTF8.self)
            exchange.log(text, isSent: kind == CURLINFO_HEADER_OUT)
            return 0
        }
    }

    /// Logs the head of a request or answer. Collects the lines of an answer's head until the head ends.
    private func log(_ text: String, isSent: Bool) {
        let isWhole = isSent || text.allSatisfy(\.isNewline)
        if !isSent { loggedHead += loggedHead.utf8.count < Self.longestLogged ? text : "" }
        guard isWhole else { return }
        let head = HTTPHeadText(isSent ? text : loggedHead, hiding: plan.request.credentials)
        if !isSent { loggedHead = "" }
        let line = plan.request.logged("\(head)")
        transfer.log.exchange("#\(transfer.number) \(isSent ? ">" : "<") \(line)")
    }

    /// The maximum number of bytes of an answer's head to log.
    private static let longestLogged = 4_096

    /// Copies the next bytes of the request's file into a buffer. Returns their number.
    private func give(_ buffer: UnsafeMutableRawBufferPointer) -> Int {
        guard let file = plan.request.upload?.file else { return 0 }
        do throws(HTTPError) {
            let count = try file.read(into: buffer, at: taken)
            taken = taken + ByteCount(count)
            if taken >= file.length { clock.recordSent() }
            return count
        } catch {
            _ = transfer.abort(error)
            return Int(CURL_READFUNC_ABORT)
        }
    }

    /// Records that a connection is established and curl is about to send the request. Returns false if curl must not
    /// send the request.
    private func recordRequest(to address: String, over ends: ConnectionEnds) -> Bool {
        // curl repeats a request if a reused connection closes without an answer. The server may have acted on a POST.
        isRepeatRefused = isAnswerDue && plan.request.method == .post
        // Leftover bytes of an earlier, too long answer would count as the answer to this request. Over TLS there may
        // be legitimate bytes, about the session or other streams.
        isMisled = !isRepeatRefused && !isConnectionNew && !hop.url.isSecure && transfer.connections.hasUnread(ends)
        isConnectionNew = false
        isRequested = !isMisled && !isRepeatRefused && check.allows(address)
        guard isRequested else { return false }
        isAnswerDue = true
        if plan.request.upload != nil { socket = transfer.connections.socket(ends) }
        // The headers of a tunnel or of a refusal are not part of the answer.
        head = ResponseHead()
        EasyOptions.setWeight(transfer.weight, of: easy)
        clock.recordRequest(easy)
        return true
    }

    private func takeHeader(_ bytes: UnsafeRawBufferPointer) -> Int {
        if isRequested { isAnswerDue = false }
        guard head.take(bytes) else { return transfer.abort(.malformed("its headers are too long")) }
        guard isRequested, head.isComplete else { return bytes.count }
        guard !head.hasTwoLengths else { return transfer.abort(.malformed("it states two lengths")) }
        if let length = head.declaredLength {
            // Compression only makes a body smaller, so the limit applies to the compressed length too.
            let limit = transfer.request.limit
            guard length <= limit || !transfer.request.wantsWholeBody else {
                return transfer.abort(.tooLarge(limit: limit))
            }
            transfer.set(length: length)
        }
        // The length is set first, because the meter's callback reads it. The time of an overloaded server's fast
        // answer must not count.
        if ![429, 503].contains(status) { clock.recordAnswer(easy) }
        return bytes.count
    }

    private static func at(_ context: UnsafeMutableRawPointer?) -> Exchange? {
        context.map { Unmanaged<Exchange>.fromOpaque($0).takeUnretainedValue() }
    }
}

/// Reports curl's times for a transfer to its meter.
///
/// curl adds up the times of repeated requests. So this type saves the sums whenever curl sends a request, and reports
/// only the difference.
struct TransferClock {
    private let meter: TransferMeter?
    /// Whether curl connects to a proxy.
    private let isBehindProxy: Bool
    private var connects = 0
    /// curl's total times when the last request was sent, in seconds.
    private var (connecting, waiting) = (0.0, 0.0)
    private var isAnswered = false
    private let isUpload: Bool
    /// The time when the last byte of a file was given to curl.
    private var sent: ContinuousClock.Instant?

    init(_ meter: TransferMeter?, isBehindProxy: Bool, isUpload: Bool = false) {
        self.meter = meter
        self.isBehindProxy = isBehindProxy
        self.isUpload = isUpload
    }

    /// Records that curl has taken the last byte of the file.
    mutating func recordSent() { sent = .now }

    /// Records that a connection is established and curl is about to send a request.
    mutating func recordRequest(_ easy: EasyHandle) {
        guard let meter else { return }
        let count = easy.long(CURLINFO_NUM_CONNECTS)
        let spent = easy.seconds(CURLINFO_CONNECT_TIME_T) - easy.seconds(CURLINFO_NAMELOOKUP_TIME_T)
        let isOfHost = count > connects && !isBehindProxy
        meter.recordConnection(isOfHost ? max(0, spent - connecting) : nil)
        (connects, connecting, waiting) = (count, spent, Self.wait(easy))
        isAnswered = false
    }

    /// Records that the head of an answer has arrived. Only the first call counts.
    mutating func recordAnswer(_ easy: EasyHandle) {
        guard let meter, !isAnswered else { return }
        isAnswered = true
        if isUpload {
            // An answer before the end of the file says nothing about the delay of the path.
            guard let sent else { return }
            return meter.recordAnswer(after: (ContinuousClock.now - sent) / .seconds(1), version: .http1)
        }
        let version: TransferMeter.Version = easy.long(CURLINFO_HTTP_VERSION) >= CURL_HTTP_VERSION_2_0 ? .http2 : .http1
        meter.recordAnswer(after: max(0, Self.wait(easy) - waiting), version: version)
    }

    private static func wait(_ easy: EasyHandle) -> Double {
        easy.seconds(CURLINFO_STARTTRANSFER_TIME_T) - easy.seconds(CURLINFO_PRETRANSFER_TIME_T)
    }
}
