import CCurl
import Glibc
import Logging
import Numbers

/// The state of one transfer on the network's thread. Used on that thread only.
final class EasyTransfer {
    /// The number by which the thread finds this transfer.
    let number: Int
    /// The request, which holds the body's file open until the last exchange is over.
    let request: HTTPRequest
    private let curl: Curl
    private let configuration: HTTPConfiguration
    /// The log, which the exchanges write to.
    let log: Log
    private let mailbox: TransferMailbox
    private let turn: TransferTurn
    private let memory: AuthenticationMemory
    /// The connections of all transfers of the thread.
    let connections: ConnectionTable
    private var exchange: Exchange?
    private var sink: BodySink
    /// The way to use the answer's body; nil until the head is complete.
    private var answer: Answer?
    /// The reason why a callback ended the exchange. curl's result code does not show this reason.
    private var stop: Stop?
    /// Whether the request was repeated because the server refused an HTTP/2 stream.
    private var isRepeated = false
    /// The number of repeats because a reused connection held unexpected bytes.
    private var misledCount = 0
    private static let mostMisled = 4
    /// Whether any exchange, and whether the first exchange, reached a public address.
    private var (hasReachedPublic, beganPublic) = (false, false)
    /// The priority of the HTTP/2 stream, from 1 to 256.
    private(set) var weight: Int
    /// Whether the final answer is a refusal. Then the body is unwanted, and the status is 300 or more.
    private var isRefused = false
    /// The sums over all earlier exchanges of this transfer.
    private var before = HTTPMetrics()
    /// The number of bytes of body in the current exchange, as curl counts.
    private var received: ByteCount = 0
    /// The greatest number of acknowledged bytes of the file in any exchange.
    private var sent: ByteCount = 0
    /// The time when the packets of an upload were last counted. They are counted often, because a long file can show a
    /// queue before its end.
    private var packetTime = ContinuousClock.now
    private static let packetInterval = Duration.milliseconds(25)

    private enum Answer {
        /// The caller wants the body. `whole` is the offset at which the body must end; nil if unknown.
        case wanted(whole: ByteCount?)
        /// The caller wants this number of bytes. The body may be longer.
        case beginning(ByteCount)
        /// The caller wants only the head. The number counts the bytes of the unwanted body so far.
        case unwanted(ByteCount)
    }

    private enum Stop {
        case error(HTTPError)
        /// The answer counts, but the unwanted rest of its body is too long to read.
        case unwanted
    }

    /// The step after an exchange.
    enum Next {
        case exchange(ExchangePlan)
        case end(Result<HTTPMetrics, any Error>)
    }

    /// The maximum number of bytes of an unwanted body to read. The connection stays usable if the whole body was read.
    private static let unwantedLimit: ByteCount = 1 << 16
    /// The number of decompressed bytes up to which the expansion is not checked.
    private static let expandedFreely: ByteCount = 1 << 20
    /// The maximum number of bytes of a refusal that curl itself reads.
    private static let refusalLimit: ByteCount = 1 << 20

    init(
        _ number: Int, _ request: HTTPRequest, _ curl: Curl, _ configuration: HTTPConfiguration,
        _ memory: AuthenticationMemory, _ connections: ConnectionTable, _ mailbox: TransferMailbox,
        _ turn: TransferTurn,
        log: Log
    ) {
        self.log = log
        self.number = number
        self.request = request
        self.curl = curl
        self.configuration = configuration
        self.memory = memory
        self.connections = connections
        weight = request.weight
        self.mailbox = mailbox
        self.turn = turn
        sink = BodySink(request, mailbox)
    }

    /// Returns the transfer that uses a handle of curl.
    static func owning(_ easy: UnsafeMutableRawPointer, _ curl: Curl) -> EasyTransfer? {
        var context: UnsafeMutableRawPointer?
        ccurl_get_pointer(curl.functions, easy, CURLINFO_PRIVATE, &context)
        return context.map { Unmanaged<EasyTransfer>.fromOpaque($0).takeUnretainedValue() }
    }

    /// curl's handle for the current exchange.
    var easy: EasyHandle? { exchange?.easy }

    var status: Int { exchange?.status ?? 0 }

    /// Continues after the mailbox was full. Returns the code that ends the exchange, or `CURLE_OK`.
    func resume() -> CURLcode {
        easy?.goOn() ?? CURLE_OK
    }

    func setWeight(_ weight: Int) {
        self.weight = weight
        if let exchange, exchange.isRequested { EasyOptions.setWeight(weight, of: exchange.easy) }
    }

    /// Creates the handle of an exchange. Without a plan, this is the first exchange. The caller must have removed the
    /// previous handle.
    func begin(_ plan: ExchangePlan? = nil) throws(HTTPError) -> EasyHandle {
        var plan = if let plan { plan } else { try ExchangePlan(request, Hop(request, curl), configuration, memory) }
        if hasReachedPublic { plan.addressPolicy = .publicOnly(except: nil) }
        (answer, stop, received, isRefused) = (nil, nil, 0, false)
        let exchange = try Exchange(plan, of: self, configuration)
        self.exchange = exchange
        return exchange.easy
    }

    /// Returns the next step after curl has finished an exchange.
    func next(after code: CURLcode) -> Next {
        guard let exchange else { return .end(.failure(CancellationError())) }
        recordAddress(exchange)
        do {
            if case .error(let error) = stop { throw error }
            // A proxy's 407 counts as an answer, although curl reports a failure.
            let isAsked = exchange.isTunnelRefused && exchange.status == 407
            if stop == nil, code != CURLE_OK, !isAsked {
                if let plan = again(code, exchange) { return .exchange(plan) }
                throw failure(code, exchange)
            }
            // curl accepts an incomplete head if the connection ends in it.
            guard exchange.head.isComplete else { throw exchange.head.isEmpty ? HTTPError.noAnswer : .cut }
            if let next = try onward(exchange) {
                before = metrics(exchange)
                return .exchange(next)
            }
            exchange.plan.learn(exchange, memory)
            try settle(exchange)
            if case .wanted(let whole?) = answer, sink.position < whole { throw HTTPError.cut }
            return .end(.success(metrics(exchange)))
        } catch {
            return .end(.failure(error))
        }
    }

    private func recordAddress(_ exchange: Exchange) {
        guard exchange.hasReachedPublic else { return }
        hasReachedPublic = true
        if exchange.hop.number == 0 { beganPublic = true }
    }

    /// Reports the end to the mailbox and the meter.
    func end(_ result: Result<HTTPMetrics, any Error>) {
        if case .success(let metrics) = result {
            // An answer that refuses a file may arrive before the whole file was sent.
            let isSent = request.upload != nil && status < 300
            request.meter?.set(bytes: isSent ? request.upload?.file.length ?? 0 : max(metrics.bytes, sent))
        }
        mailbox.post(end: result)
        turn.add(mailbox)
        request.meter?.recordEnd(result, isRefused: status >= 400)
    }

    /// Returns the plan for an immediate repeat. Returns nil if the failure is final.
    ///
    /// An HTTP/2 server may refuse streams that curl sent before the server closed an old connection. And a reused
    /// connection may hold unexpected bytes; curl has then closed the connection without sending the request.
    private func again(_ code: CURLcode, _ exchange: Exchange) -> ExchangePlan? {
        if exchange.isMisled {
            // Several idle connections may hold such bytes. The limit stops a server that always sends too much.
            misledCount += 1
            return misledCount <= Self.mostMisled ? exchange.plan : nil
        }
        guard !isRepeated, request.method != .post, [CURLE_HTTP2, CURLE_HTTP2_STREAM].contains(code),
            exchange.isUnanswered
        else { return nil }
        isRepeated = true
        return exchange.plan
    }

    private func failure(_ code: CURLcode, _ exchange: Exchange) -> HTTPError {
        if exchange.isMisled { return .malformed("it is longer than its stated length") }
        if exchange.isRepeatRefused { return .noAnswer }
        if exchange.wasRefusedAnAddress { return .privateAddress(exchange.hop.url.origin.host) }
        if exchange.isTunnelRefused { return .proxyRefused(exchange.status) }
        return exchange.report(on: code).error
    }

    /// Returns the exchange that follows an answer, such as a redirect. Returns nil if the answer is final.
    private func onward(_ exchange: Exchange) throws(HTTPError) -> ExchangePlan? {
        let status = exchange.status
        if exchange.isRequested,
            let hop = try exchange.hop.next(status: status, location: exchange.head.location, of: request.method)
        {
            return try ExchangePlan(request, hop, configuration, memory)
        }
        return exchange.plan.next(status: status, challenges: exchange.challenges)
    }

    private func metrics(_ exchange: Exchange) -> HTTPMetrics {
        var metrics = exchange.easy.metrics
        metrics.bytes += before.bytes
        metrics.redirects = exchange.hop.number
        metrics.duration += before.duration
        return metrics
    }

    // MARK: - Events of the exchange

    /// Records the byte counts. Returns false if the exchange must end.
    ///
    /// - Parameter acknowledged: the number of bytes of a file that have been sent and acknowledged.
    func updateProgress(_ count: ByteCount, acknowledged: ByteCount) -> Bool {
        // curl restarts its count when it repeats a request with a password.
        if count < received { before.bytes += received }
        received = count
        if request.upload == nil {
            request.meter?.set(bytes: before.bytes + count)
        } else {
            // A repeated request sends the file again, which is no progress.
            sent = max(sent, acknowledged)
            request.meter?.set(bytes: sent)
            if ContinuousClock.now - packetTime > Self.packetInterval {
                recordPackets()
                packetTime = .now
            }
        }
        // curl itself reads a refusal's body before it repeats the request, and passes the body to no callback.
        guard answer == nil, count > Self.refusalLimit else { return true }
        stop = .error(.malformed("a refusal is too long"))
        return false
    }

    /// Reports the packet counts of the connection to the meter.
    func recordPackets() {
        guard request.upload != nil else {
            request.meter?.set(packets: exchange?.packets)
            return
        }
        if let packets = exchange?.packets { request.meter?.add(packets) }
    }

    /// Reports the stated length of the body to the meter.
    func set(length: ByteCount) {
        request.meter?.set(length: before.bytes + min(length, request.excerpt?.range.length ?? length))
    }

    /// Processes a piece of the body. Returns the piece's length, or another number that makes curl end or pause the
    /// exchange.
    func take(_ bytes: UnsafeRawBufferPointer, of exchange: Exchange) -> Int {
        do {
            switch try settle(exchange) {
            case .wanted(let whole):
                if let whole, sink.position + ByteCount(bytes.count) > whole {
                    throw HTTPError.wrongRange("it is longer than its stated length")
                }
                try checkExpansion(bytes.count, exchange)
                // The reader must wake even if the mailbox is full, because only the reader makes space.
                turn.add(mailbox)
                return try sink.take(bytes) ? bytes.count : Int(CURL_WRITEFUNC_PAUSE)
            case .beginning(let count):
                turn.add(mailbox)
                let piece = UnsafeRawBufferPointer(rebasing: bytes.prefix((count - sink.position).int))
                guard try sink.take(piece) else { return Int(CURL_WRITEFUNC_PAUSE) }
                if sink.position < count { return bytes.count }
                stop = .unwanted
                return 0
            case .unwanted(let thrown):
                guard thrown + ByteCount(bytes.count) <= Self.unwantedLimit else {
                    stop = .unwanted
                    return 0
                }
                answer = .unwanted(thrown + ByteCount(bytes.count))
                // The mailbox has space for the whole body, because nothing else is posted.
                if isRefused, request.wantsRefusals, mailbox.post(bytes) { turn.add(mailbox) }
                return bytes.count
            }
        } catch {
            return abort((error as? HTTPError) ?? .other("\(error)"))
        }
    }

    /// Throws if the body expands too much, including the next piece.
    private func checkExpansion(_ count: Int, _ exchange: Exchange) throws(HTTPError) {
        guard let most = request.maximumExpansion, most > 0 else { return }
        let beyond = sink.position + ByteCount(count) - Self.expandedFreely
        guard beyond > 0, beyond / most > exchange.easy.count(CURLINFO_SIZE_DOWNLOAD_T) ?? 0 else {
            return
        }
        throw .tooCompressed(limit: most)
    }

    /// Records the error that ends the transfer. Returns the count that makes curl end the transfer.
    func abort(_ error: HTTPError) -> Int {
        stop = .error(error)
        return 0
    }

    /// Decides once how to use the answer's body, and posts the head.
    @discardableResult
    private func settle(_ exchange: Exchange) throws -> Answer {
        if let answer { return answer }
        let answer = try decide(exchange)
        self.answer = answer
        return answer
    }

    private func decide(_ exchange: Exchange) throws(HTTPError) -> Answer {
        // Intermediate answers are not posted.
        if try onward(exchange) != nil { return .unwanted(0) }
        let (status, headers) = (exchange.status, exchange.head.headers)
        let isCoded = headers["content-encoding"].map { $0.lowercased() != "identity" } ?? false
        var (begin, length) = (0 as ByteCount, isCoded ? nil : exchange.networkLength)
        var answer = Answer.unwanted(0)
        if let excerpt = request.excerpt {
            let (body, whole) = try excerpt.judge(status: status, headers, length: length)
            length = whole
            switch body {
            case .unwanted: break
            case .complete(let sent): (begin, answer) = (sent?.lowerBound ?? 0, .wanted(whole: sent?.upperBound))
            case .open: answer = .beginning(excerpt.range.upperBound)
            }
        } else if request.method.isSuccess(status) {
            // A piece's body does not go into the file, so the whole resource cannot take the place of a piece.
            let isPiece = request.range != nil && request.destination.isStream
            answer = isPiece || request.method == .options ? .unwanted(0) : .wanted(whole: nil)
        } else if status == 206, let asked = request.part(at: exchange.hop) {
            guard !isCoded else { throw .wrongRange("it is compressed") }
            guard let range = ContentRange(headers["content-range"]), range.isAnswer(to: asked) else {
                throw .wrongRange(request.range == nil ? "it does not continue the file" : "it is a different piece")
            }
            guard request.resumption(at: exchange.hop)?.isOfEdition(headers, whole: range.whole) ?? true else {
                throw .wrongRange("the file has changed")
            }
            guard range.whole <= request.limit else { throw .tooLarge(limit: request.limit) }
            guard length == nil || length == range.last + 1 - range.first else {
                throw .wrongRange("its lengths contradict each other")
            }
            (begin, length, answer) = (range.first, range.whole, .wanted(whole: range.last + 1))
        } else if status == 206, request.resumption != nil {
            // A redirect led to another resource, for which no range was requested.
            throw .wrongRange("no range was requested")
        }
        if let body = exchange.networkLength ?? (request.range == nil ? length.map { $0 - begin } : nil) {
            set(length: body)
        }
        if case .unwanted = answer { isRefused = status >= 300 } else { try sink.begin(at: begin) }
        // The refused password is reported before the response is posted. So a caller that reacts to the response does
        // not find that password again.
        if let refusal = exchange.proxyRefusal, let told = exchange.plan.proxyCredentials {
            configuration.proxyCredentials.onRefusal(told, refusal.proxy)
        }
        recordAddress(exchange)
        let response = HTTPResponse(
            status: status, url: exchange.hop.number == 0 ? request.url : exchange.hop.url.text, headers: headers,
            length: length, begin: begin, challenges: exchange.challenges, proxyRefusal: exchange.proxyRefusal,
            isPrivate: exchange.isPrivate, beganPublic: beganPublic,
            isHTTP1: exchange.easy.long(CURLINFO_HTTP_VERSION) < CURL_HTTP_VERSION_2_0)
        request.ranges?.learn(from: response, to: request)
        mailbox.post(response)
        turn.add(mailbox)
        return answer
    }
}
