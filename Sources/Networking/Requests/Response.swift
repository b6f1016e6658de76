import Cache
import Formats
import Glibc
import HTTP
import Model
import Numbers

/// An answer with a complete head. The body of the answer may still be arriving.
///
/// The status is 200, or 304 if the request had validators. Other methods have other statuses of success: see
/// ``HTTPRequest/Method/isSuccess(_:)``. If the plan asks for a part of the resource, the status may also be 206. If
/// that part has no bytes, the status may be 416, and there is no body. All other statuses cause errors instead.
public struct Response {
    /// The head of the answer.
    public let head: HTTPResponse
    private let requested: Address
    /// The file for the body; nil if the plan named no file.
    public let file: PartialFile?
    /// Whether the request was signed with an access key.
    let wasSigned: Bool
    private var events: HTTPTransfer.Iterator
    /// The bytes that were put back, which ``nextBytes()`` returns next.
    private var unread: [UInt8] = []
    /// A lower limit for the body than the plan's; nil for none.
    private var limit: ByteCount?
    private var received: ByteCount = 0

    /// Sends a request and waits for the head of its answer.
    static func to(
        _ plan: FetchPlan, over client: HTTPClient, with permit: TransferPermit
    ) async throws -> Response {
        let request = try plan.httpRequest()
        var events = permit.send(request, over: client).makeAsyncIterator()
        let first: HTTPEvent?
        do { first = try await events.next() } catch HTTPError.privateAddress(let host)
            where plan.publicity?.isPublic == true && host == plan.address.host
        {
            throw RequestError.noLongerPublic(plan.address.shownHost)
        }
        guard case .response(let head)? = first else {
            throw RequestError.transfer(.malformed("it has no head"))
        }
        plan.publicity?.take(head, from: plan.address)
        // The resource has changed, or the server counts bytes in its own way.
        if head.status == 416, plan.resumption != nil { throw RequestError.noRest("it answered 416") }
        // A cache between Vitrine and the server took this request for another client's request.
        if head.status == 304, plan.validators == Validators() { throw RequestError.nothingHeld }
        guard isWanted(head, plan) else {
            if PhotoPrismShare.isRefused(head, plan) { throw RequestError.sharedLink(hasPassword: false) }
            if head.status == 401, ImmichShare.isKey(plan.signIn), isOfServer(head, plan) {
                let wantsPassword = ImmichRules.wantsPassword(try await bodyOfRefusal(&events))
                throw RequestError.sharedLink(hasPassword: wantsPassword)
            }
            if let question = question(head, plan, wasRefused: request.credentials != nil) {
                throw RequestError.signIn(question)
            }
            if head.status == 404, ImmichRules.isThumbnail(plan.address) { throw RequestError.notMadeYet }
            if head.status == 403, let permission = try await missingPermission(&events, plan) {
                throw RequestError.missingPermission(permission)
            }
            if plan.refusals != .ignored,
                let refusal = try await refusal(head, &events, mayAsk: plan.refusals.mayAsk)
            {
                throw refusal.error(at: plan.address, after: plan.signIn, plan.refusals)
            }
            if head.status == 401, plan.namesSecuredRefusals, plan.address.scheme == .http,
                let answered = try? Address(head.url), answered.scheme == .https, answered.host == plan.address.host
            {
                guard let secured = plan.address.secured, secured.origin == answered.origin else {
                    throw RequestError.signInElsewhere(answered)
                }
                throw SecuredRefusal(address: secured)
            }
            if isSignIn(head, plan), !head.challenges.isEmpty {
                let schemes = Set(head.challenges.map { String($0.scheme.prefix(20)) }).sorted().prefix(4)
                throw RequestError.unknownSignIn(schemes: Array(schemes), isOfProxy: head.proxyRefusal != nil)
            }
            throw RequestError.status(
                head.status, retryAfter: head.headers["retry-after"].flatMap { RetryAfter.seconds($0) })
        }
        return Response(head: head, requested: plan.address, file: plan.file, wasSigned: plan.isSigned, events: events)
    }

    /// Returns the permission that the API key lacks. Returns nil unless the refusal names it.
    private static func missingPermission(
        _ events: inout HTTPTransfer.Iterator, _ plan: FetchPlan
    ) async throws -> String? {
        guard plan.file == nil, ImmichRules.keyHeader(for: plan.address) != nil else { return nil }
        return ImmichRules.missingPermission(try await bodyOfRefusal(&events))
    }

    /// Reads the document with which a storage service refuses a request. Returns nil for other answers, and if the
    /// service is too busy.
    private static func refusal(
        _ head: HTTPResponse, _ events: inout HTTPTransfer.Iterator, mayAsk: Bool
    ) async throws -> BucketRefusal? {
        guard head.status != 429, head.status < 500 else { return nil }
        let body = try await bodyOfRefusal(&events)
        // A transfer in pieces does not pass on the body, so only the status shows the refusal.
        if body.isEmpty, mayAsk, head.status == 403 { return BucketRefusal(status: 403, code: "AccessDenied") }
        return BucketRefusal(status: head.status, region: head.headers["x-amz-bucket-region"], body: body)
    }

    /// Returns the beginning of a refusal's body. The client passes on no more.
    private static func bodyOfRefusal(_ events: inout HTTPTransfer.Iterator) async throws -> [UInt8] {
        var body: [UInt8] = []
        do {
            while let event = try await events.next() {
                if case .bytes(let bytes) = event { body += bytes }
            }
        } catch {
            // The status of a truncated answer still counts.
            try Task.checkCancellation()
        }
        return body
    }

    /// Whether the request can use an answer.
    private static func isWanted(_ head: HTTPResponse, _ plan: FetchPlan) -> Bool {
        let isForPart = plan.resumption != nil || plan.wantedBytes != nil
        return switch head.status {
        case let status where plan.method.isSuccess(status): true
        case 206: plan.method == .get && isForPart
        case 304: plan.validators != Validators()
        case 416: plan.method == .get && (plan.wantedBytes.map { $0.lowerBound > 0 || head.length == 0 } ?? false)
        default: false
        }
    }

    /// Whether an answer comes from the plan's server, and not from another one after a redirect.
    private static func isOfServer(_ head: HTTPResponse, _ plan: FetchPlan) -> Bool {
        (try? Address(head.url))?.origin == plan.address.origin
    }

    /// Whether the plan's server or a proxy requests credentials.
    private static func isSignIn(_ head: HTTPResponse, _ plan: FetchPlan) -> Bool {
        head.status == 401 && isOfServer(head, plan) || head.proxyRefusal != nil
    }

    /// Returns the question for the user that an answer leads to. Returns nil if there is none.
    ///
    /// A server's question counts only at the plan's origin, because redirects carry no credentials. A proxy's question
    /// always counts.
    private static func question(_ head: HTTPResponse, _ plan: FetchPlan, wasRefused: Bool) -> SignInQuestion? {
        let isOwn = head.status == 401 && isOfServer(head, plan)
        guard let origin = plan.address.origin, isSignIn(head, plan) else { return nil }
        let realm = head.challenges.lazy.map(\.realm).first { !$0.isEmpty } ?? ""
        let isSilent = isOwn && head.challenges.isEmpty && ServerPlace.lacksChallenges(plan.address)
        let keyHeader = isOwn && head.challenges.isEmpty ? LibraryRules.keyHeader(for: plan.address) : nil
        let isForAppPassword =
            isOwn && head.challenges.isEmpty && PhotoPrismRules.wantsAppPassword(for: plan.address)
        let schemes: Set<String> =
            if isForAppPassword {
                ["bearer"]
            } else if keyHeader == PiwigoRules.keyHeader {
                PiwigoRules.schemes
            } else {
                isSilent ? ["basic"] : Set(head.challenges.map(\.scheme))
            }
        var question = SignInQuestion(
            origin: origin, proxy: head.proxyRefusal?.proxy, keyHeader: keyHeader,
            schemes: schemes,
            realm: realm,
            wasRefused: head.proxyRefusal?.wasTold ?? wasRefused,
            browserServer: head.proxyRefusal == nil ? ServerPlace.pages(for: plan.address) : nil)
        if isForAppPassword { question.tokenName = PhotoPrismRules.secretName }
        return question.canBeAnswered ? question : nil
    }

    /// The address that answered after redirects. The address is computed on demand, because pictures do not need it.
    public var address: Address { (try? Address(head.url)) ?? requested }

    /// Whether the server answered that the cached copy is current.
    public var isUnchanged: Bool { head.status == 304 }

    /// The validators to send with the next request.
    public var validators: Validators {
        Validators(etag: head.headers["etag"], lastModified: head.headers["last-modified"])
    }

    /// Returns the next piece of the body. Returns nil at the end of the body. Use this method for a plan without a
    /// file.
    public mutating func nextBytes() async throws -> [UInt8]? {
        guard unread.isEmpty else {
            defer { unread = [] }
            return unread
        }
        while let event = try await events.next() {
            switch event {
            case .bytes(let bytes):
                received += ByteCount(bytes.count)
                if let limit, received > limit { throw HTTPError.tooLarge(limit: limit) }
                return bytes
            case .response, .written, .end: break
            }
        }
        return nil
    }

    /// Sets a lower limit for the body than the plan's. Use this when the kind of the answer is known.
    mutating func limit(to bytes: ByteCount) { limit = bytes }

    /// Reads enough bytes to recognise the format of a list.
    mutating func beginning() async throws -> [UInt8] {
        var beginning: [UInt8] = []
        while beginning.count < ListingFormat.beginningLength, let bytes = try await nextBytes() { beginning += bytes }
        return beginning
    }

    /// Reads the beginning of a list. If that is JSON of an unknown form, reads the beginning of the web page instead.
    ///
    /// - Parameter page: requests the page.
    mutating func beginning(orPage page: () async throws -> Response) async throws -> [UInt8] {
        let beginning = try await beginning()
        guard ListingFormat.isUnknownJSON(beginning) else { return beginning }
        do { self = try await page() } catch let error as RequestError where !error.failure.isTemporary {
            // The server has no page.
            switch error {
            case .status, .signIn, .unknownSignIn: throw FormatError.notAGallery("a JSON file")
            default: throw error
            }
        }
        return try await self.beginning()
    }

    /// Puts bytes back, so that the next call of ``nextBytes()`` returns them.
    mutating func putBack(_ bytes: [UInt8]) { unread = bytes }

    /// Returns the new length of the file. Returns nil at the end. Use this method for a plan with a file.
    public mutating func nextWritten() async throws -> ByteCount? {
        while let event = try await events.next() {
            switch event {
            case .written(let count): return count
            case .response, .bytes, .end: break
            }
        }
        return nil
    }

    /// Returns the whole body, which the plan's limit keeps small.
    public mutating func allBytes() async throws -> [UInt8] {
        guard var all = try await nextBytes() else { return [] }
        while let bytes = try await nextBytes() { all += bytes }
        return all
    }

    /// Throws if the answer's type is text, data or a drawing.
    ///
    /// The type `text/plain` proves nothing: nginx and old versions of Apache state it for files with unknown names,
    /// such as HEIC files.
    public func checkIsNoText() throws {
        let type = head.headers["content-type"]?.lowercased() ?? ""
        // Some servers send a symbol in place of a picture that they cannot make.
        if type.hasPrefix("image/svg") { throw RequestError.wrongType("a symbol instead of a picture") }
        guard !type.hasPrefix("text/plain") else { return }
        for text in ["text/", "application/json", "application/xml"] where type.hasPrefix(text) {
            throw RequestError.wrongType(
                text == "text/" ? "text instead of a picture" : "data instead of a picture")
        }
    }
}

/// The server of the secure address has refused a redirected request, which carries no credentials.
struct SecuredRefusal: Error {
    /// The plan's address with `https`.
    let address: Address
}

/// Reads the `Retry-After` header, which contains seconds or a date (RFC 9110, section 10.2.3).
enum RetryAfter {
    /// The longest accepted wait in seconds, one day. Servers may state years.
    static let most = 86_400

    /// Returns the number of seconds to wait, at most ``most``. Returns nil if the header is invalid.
    ///
    /// - Parameter now: the present time in seconds since 1970.
    static func seconds(_ text: String, now: Int = time(nil)) -> Int? {
        if let seconds = Int(digits: text, atMost: most) { return seconds }
        // Dates have four-digit years and `now` is this machine's time, so the difference cannot overflow.
        return HTTPDate.seconds(text).map { min(max($0 - now, 0), most) }
    }
}
