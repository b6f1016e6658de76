import CCurl
import Glibc
import Numbers

/// One transfer on the network's thread: where it is, and what has come so far. Touched on that thread only.
final class EasyTransfer {
    let number: Int
    /// It keeps the file that a body goes into open, until the last exchange is over.
    let request: HTTPRequest
    private let curl: Curl
    private let configuration: HTTPConfiguration
    private let mailbox: TransferMailbox
    private let turn: TransferTurn
    private let memory: AuthenticationMemory
    let connections: ConnectionTable
    private var exchange: Exchange?
    private var sink: BodySink
    /// What becomes of the body that comes; nil until the head is complete.
    private var answer: Answer?
    /// Why a callback stopped the transfer; curl itself only knows that one did.
    private var stop: Stop?
    /// Whether a request was sent once more that a server did not want on its connection.
    private var isRepeated = false
    /// How often the request was repeated because its connection held bytes that nobody had asked for.
    private var misledCount = 0
    private static let mostMisled = 4
    /// Whether an exchange has reached a public address, and whether the first one did, which no redirect led to.
    private var (hasReachedPublic, beganPublic) = (false, false)
    private(set) var weight: Int
    /// What the exchanges before took.
    private var before = HTTPMetrics()
    /// Bytes of body in the exchange that runs, as curl counts them.
    private var received: ByteCount = 0

    private enum Answer {
        /// It is taken, up to a length if that is sure.
        case wanted(whole: ByteCount?)
        /// Only its head is. How many bytes of the rest were thrown away.
        case unwanted(ByteCount)
    }

    private enum Stop {
        case error(HTTPError)
        /// The answer stands, but its body is too long to be read for nothing.
        case unwanted
    }

    /// What comes after an exchange.
    enum Next {
        case exchange(ExchangePlan)
        case end(Result<HTTPMetrics, any Error>)
    }

    /// The most of an unwanted body that is read for the sake of the connection, which can then be used again.
    private static let unwantedLimit: ByteCount = 1 << 16
    /// Bytes of a body that do not count when it is looked at how far it was compressed.
    private static let expandedFreely: ByteCount = 1 << 20
    /// The most of one that curl reads by itself.
    private static let refusalLimit: ByteCount = 1 << 20

    init(
        _ number: Int, _ request: HTTPRequest, _ curl: Curl, _ configuration: HTTPConfiguration,
        _ memory: AuthenticationMemory, _ connections: ConnectionTable, _ mailbox: TransferMailbox, _ turn: TransferTurn
    ) {
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

    /// The transfer that a handle belongs to.
    static func owning(_ easy: UnsafeMutableRawPointer, _ curl: Curl) -> EasyTransfer? {
        var context: UnsafeMutableRawPointer?
        ccurl_get_pointer(curl.functions, easy, CURLINFO_PRIVATE, &context)
        return context.map { Unmanaged<EasyTransfer>.fromOpaque($0).takeUnretainedValue() }
    }

    /// The handle that is at work.
    var easy: EasyHandle? { exchange?.easy }

    var status: Int { exchange?.status ?? 0 }

    /// Goes on after the mailbox was full. Returns what ends the exchange; `CURLE_OK` if it goes on.
    func resume() -> CURLcode {
        easy?.goOn() ?? CURLE_OK
    }

    func setWeight(_ weight: Int) {
        self.weight = weight
        if let exchange, exchange.isRequested { EasyOptions.setWeight(weight, of: exchange.easy) }
    }

    /// Makes the handle of an exchange, the first one without a plan. The handle before must have been removed.
    func begin(_ plan: ExchangePlan? = nil) throws(HTTPError) -> EasyHandle {
        var plan = if let plan { plan } else { try ExchangePlan(request, Hop(request, curl), configuration, memory) }
        if hasReachedPublic { plan.addressPolicy = .publicOnly(except: nil) }
        (answer, stop, received) = (nil, nil, 0)
        let exchange = try Exchange(plan, of: self, configuration)
        self.exchange = exchange
        return exchange.easy
    }

    /// Says what comes next, when curl has said that the exchange is over.
    func next(after code: CURLcode) -> Next {
        guard let exchange else { return .end(.failure(CancellationError())) }
        noteAddress(exchange)
        do {
            if case .error(let error) = stop { throw error }
            // A proxy that wants a password has answered, though curl would not know to whom.
            let isAsked = exchange.isTunnelRefused && exchange.status == 407
            if stop == nil, code != CURLE_OK, !isAsked {
                if let plan = again(code, exchange) { return .exchange(plan) }
                throw failure(code, exchange)
            }
            // curl takes whatever lines it has for a head, if the connection ends in it.
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

    private func noteAddress(_ exchange: Exchange) {
        guard exchange.hasReachedPublic else { return }
        hasReachedPublic = true
        if exchange.hop.number == 0 { beganPublic = true }
    }

    /// Tells everyone how it ended.
    func end(_ result: Result<HTTPMetrics, any Error>) {
        if case .success(let metrics) = result { request.meter?.note(bytes: metrics.bytes) }
        mailbox.post(end: result)
        turn.note(mailbox)
        request.meter?.noteEnd(result)
    }

    /// The same once more, at once, if a server gave up on a stream of HTTP/2 before it answered: it wants no more of them on
    /// a connection that is old, and says so when some are under way already. And over another connection, if the one that was
    /// kept is of no use, which is closed by now.
    private func again(_ code: CURLcode, _ exchange: Exchange) -> ExchangePlan? {
        if exchange.isMisled {
            // Connections that were kept may each hold something. A server that sends too much each time would be asked forever.
            misledCount += 1
            return misledCount <= Self.mostMisled ? exchange.plan : nil
        }
        guard !isRepeated, [CURLE_HTTP2, CURLE_HTTP2_STREAM].contains(code), exchange.isUnanswered else { return nil }
        isRepeated = true
        return exchange.plan
    }

    private func failure(_ code: CURLcode, _ exchange: Exchange) -> HTTPError {
        if exchange.isMisled { return .malformed("it is longer than it says") }
        if exchange.wasRefusedAnAddress { return .privateAddress(exchange.hop.url.origin.host) }
        if exchange.isTunnelRefused { return .proxyRefused(exchange.status) }
        return exchange.report(on: code).error
    }

    /// The exchange that an answer leads to; nil if it is the last.
    private func onward(_ exchange: Exchange) throws(HTTPError) -> ExchangePlan? {
        let status = exchange.status
        if exchange.isRequested, let hop = try exchange.hop.next(status: status, location: exchange.head.location) {
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

    // MARK: - What an exchange tells

    /// Returns false if the exchange is to end.
    func noteProgress(_ count: ByteCount) -> Bool {
        // curl counts anew when it asks once more, with a password.
        if count < received { before.bytes += received }
        received = count
        request.meter?.note(bytes: before.bytes + count)
        // What it reads of a refusal before it asks once more, it hands to nobody.
        guard answer == nil, count > Self.refusalLimit else { return true }
        stop = .error(.malformed("a refusal has no end"))
        return false
    }

    /// Notes what came over the connection.
    func notePackets() {
        request.meter?.note(packets: exchange?.packets)
    }

    /// Notes how long the body is that has been announced.
    func note(length: ByteCount) {
        request.meter?.note(length: before.bytes + length)
    }

    /// Takes a piece of a body. A count other than its own ends the exchange, or has it wait.
    func take(_ bytes: UnsafeRawBufferPointer, of exchange: Exchange) -> Int {
        do {
            switch try settle(exchange) {
            case .wanted(let whole):
                if let whole, sink.position + ByteCount(bytes.count) > whole {
                    throw HTTPError.wrongRange("it is longer than it says")
                }
                try checkExpansion(bytes.count, exchange)
                // Also where there was no room: somebody is to make some.
                turn.note(mailbox)
                return try sink.take(bytes) ? bytes.count : Int(CURL_WRITEFUNC_PAUSE)
            case .unwanted(let thrown):
                guard thrown + ByteCount(bytes.count) <= Self.unwantedLimit else {
                    stop = .unwanted
                    return 0
                }
                answer = .unwanted(thrown + ByteCount(bytes.count))
                return bytes.count
            }
        } catch {
            return abort((error as? HTTPError) ?? .other("\(error)"))
        }
    }

    /// Compares what has come of a compressed body with what it has become, the next bytes included.
    private func checkExpansion(_ count: Int, _ exchange: Exchange) throws(HTTPError) {
        guard let most = request.maximumExpansion, most > 0 else { return }
        let beyond = sink.position + ByteCount(count) - Self.expandedFreely
        guard beyond > 0, beyond / most > exchange.easy.count(CURLINFO_SIZE_DOWNLOAD_T) ?? 0 else {
            return
        }
        throw .tooCompressed(limit: most)
    }

    /// Notes why the transfer is to end. The count that this returns has curl end it.
    func abort(_ error: HTTPError) -> Int {
        stop = .error(error)
        return 0
    }

    /// Decides, once, what becomes of an answer whose head is complete, and hands the head on.
    @discardableResult
    private func settle(_ exchange: Exchange) throws -> Answer {
        if let answer { return answer }
        let answer = try decide(exchange)
        self.answer = answer
        return answer
    }

    private func decide(_ exchange: Exchange) throws(HTTPError) -> Answer {
        // Nobody hears of what lies on the way.
        if try onward(exchange) != nil { return .unwanted(0) }
        let (status, headers) = (exchange.status, exchange.head.headers)
        let isCoded = headers["content-encoding"].map { $0.lowercased() != "identity" } ?? false
        var (begin, length) = (0 as ByteCount, isCoded ? nil : exchange.networkLength)
        var answer = Answer.unwanted(0)
        if status == 200 {
            // In place of a piece that goes elsewhere than into the file, all of it is of no use.
            answer = request.range != nil && request.destination.isStream ? .unwanted(0) : .wanted(whole: nil)
        } else if status == 206, let asked = request.part(at: exchange.hop) {
            guard !isCoded else { throw .wrongRange("it is compressed") }
            guard let range = ContentRange(headers["content-range"]), range.isAnswer(to: asked) else {
                throw .wrongRange(request.range == nil ? "it is not the rest" : "it is another piece")
            }
            guard request.resumption(at: exchange.hop)?.isOfEdition(headers, whole: range.whole) ?? true else {
                throw .wrongRange("it has become another")
            }
            guard range.whole <= request.limit else { throw .tooLarge(limit: request.limit) }
            guard length == nil || length == range.last + 1 - range.first else {
                throw .wrongRange("its lengths differ")
            }
            (begin, length, answer) = (range.first, range.whole, .wanted(whole: range.last + 1))
        } else if status == 206, request.resumption != nil {
            // A redirect led to another resource, and no part of that was asked for.
            throw .wrongRange("no part was asked for")
        }
        if let body = exchange.networkLength ?? (request.range == nil ? length.map { $0 - begin } : nil) {
            note(length: body)
        }
        if case .wanted = answer { try sink.begin(at: begin) }
        // Before anybody hears of the answer: who then asks what is known hears of nothing that is refused.
        if let refusal = exchange.proxyRefusal, let told = exchange.plan.proxyCredentials {
            configuration.proxyCredentials.onRefusal(told, refusal.proxy)
        }
        noteAddress(exchange)
        let response = HTTPResponse(
            status: status, url: exchange.hop.number == 0 ? request.url : exchange.hop.url.text, headers: headers,
            length: length, begin: begin, challenges: exchange.challenges, proxyRefusal: exchange.proxyRefusal,
            isPrivate: exchange.isPrivate, beganPublic: beganPublic)
        request.ranges?.note(response, to: request)
        mailbox.post(response)
        turn.note(mailbox)
        return answer
    }
}
