import Cache
import Glibc
import HTTP
import Model
import Numbers

/// A server's answer, as far as it has come: its head, and the body still to be taken.
///
/// It is 200, or 304 where validators were sent; everything else has been thrown as an error before a request sees it.
public struct Response {
    /// The head.
    public let head: HTTPResponse
    private let requested: Address
    /// The file that the body goes into, if the plan named one.
    public let file: PartialFile?
    private var events: HTTPTransfer.Iterator
    /// What the transfer took; known once the body has been taken to its end.
    public private(set) var metrics: HTTPMetrics?

    /// Sends a request and waits for its answer to begin.
    static func to(
        _ plan: FetchPlan, over client: HTTPClient, with permit: TransferPermit
    ) async throws -> Response {
        let request = try plan.httpRequest()
        var events = permit.send(request, over: client).makeAsyncIterator()
        let first: HTTPEvent?
        do { first = try await events.next() } catch HTTPError.privateAddress(let host)
            where plan.wasPublic && host == plan.address.host
        {
            throw RequestError.noLongerPublic(plan.address.shownHost)
        }
        guard case .response(let head)? = first else {
            throw RequestError.transfer(.malformed("it has no beginning"))
        }
        let isWanted = head.status == 200 || (head.status == 206 && plan.resumption != nil)
        // There is nothing behind what is here: it has become another, or a server counts in its own way.
        if head.status == 416, plan.resumption != nil { throw RequestError.noRest("it answered 416") }
        // Somebody in between takes us for somebody else, who holds something.
        if head.status == 304, plan.validators == Validators() { throw RequestError.nothingHeld }
        guard isWanted || (head.status == 304 && plan.validators != Validators()) else {
            if let question = question(head, plan, wasRefused: request.credentials != nil) {
                throw RequestError.signIn(question)
            }
            throw RequestError.status(
                head.status, retryAfter: head.headers["retry-after"].flatMap { RetryAfter.seconds($0) })
        }
        return Response(head: head, requested: plan.address, file: plan.file, events: events, metrics: nil)
    }

    /// What the user could be asked after such an answer. Of servers only for the origin that the plan names: where a redirect
    /// leads, nobody says who asks. A proxy is the user's own, wherever it leads to.
    private static func question(_ head: HTTPResponse, _ plan: FetchPlan, wasRefused: Bool) -> SignInQuestion? {
        let isOwn = head.status == 401 && (try? Address(head.url))?.origin == plan.address.origin
        guard let origin = plan.address.origin, isOwn || head.proxyRefusal != nil else { return nil }
        let realm = head.challenges.lazy.map(\.realm).first { !$0.isEmpty } ?? ""
        let question = SignInQuestion(
            origin: origin, proxy: head.proxyRefusal?.proxy, schemes: Set(head.challenges.map(\.scheme)), realm: realm,
            wasRefused: head.proxyRefusal?.wasTold ?? wasRefused)
        return question.canBeAnswered ? question : nil
    }

    /// Where the answer came from in the end. Worked out each time: of a picture nobody wants to know.
    public var address: Address { (try? Address(head.url)) ?? requested }

    /// Whether the server says that what is held is what it has.
    public var isUnchanged: Bool { head.status == 304 }

    /// What the server said by which it can tell later that nothing has changed.
    public var validators: Validators {
        Validators(etag: head.headers["etag"], lastModified: head.headers["last-modified"])
    }

    /// Waits for the next piece of the body; nil at its end. For a plan without a file.
    public mutating func nextBytes() async throws -> [UInt8]? {
        while let event = try await events.next() {
            switch event {
            case .bytes(let bytes): return bytes
            case .end(let metrics): self.metrics = metrics
            case .response, .written: break
            }
        }
        return nil
    }

    /// Waits for the next word of how much has been written; nil when all has. For a plan with a file.
    public mutating func nextWritten() async throws -> ByteCount? {
        while let event = try await events.next() {
            switch event {
            case .written(let count): return count
            case .end(let metrics): self.metrics = metrics
            case .response, .bytes: break
            }
        }
        return nil
    }

    /// Waits for the whole body, which the plan's limit keeps small.
    public mutating func allBytes() async throws -> [UInt8] {
        guard var all = try await nextBytes() else { return [] }
        while let bytes = try await nextBytes() { all += bytes }
        return all
    }

    /// Checks what the server calls the answer: a web page in a picture's place is none.
    public func checkIsNoText() throws {
        let type = head.headers["content-type"]?.lowercased() ?? ""
        for text in ["text/", "application/json", "application/xml"] where type.hasPrefix(text) {
            throw RequestError.wrongType(
                text == "text/" ? "a text in place of a picture" : "data in place of a picture")
        }
    }
}

/// The `Retry-After` header: seconds, or a date (RFC 9110, section 10.2.3).
enum RetryAfter {
    /// A server may say years. Nothing here waits for longer than a day because of that.
    static let most = 86_400

    /// How many seconds to wait, as the server says it, and ``most`` at most; nil if the header cannot be read.
    ///
    /// - Parameter now: seconds since 1970.
    static func seconds(_ text: String, now: Int = time(nil)) -> Int? {
        if let seconds = Int(digits: text, atMost: most) { return seconds }
        // A date has a year of four digits, and the clock of this machine is not the server's word: no difference overflows.
        return HTTPDate.seconds(text).map { min(max($0 - now, 0), most) }
    }
}
