import Cache
import HTTP
import Logging
import Model
import Numbers
import Scheduling
import Session

/// One kind of request: its address, its limits, and how the cache stores the answer.
///
/// The controller knows requests only by this protocol. A new kind is a new type and an entry in the controller's list of
/// kinds. A request can also run alone:
///
///     let request = try PhotoRequest.make(for: .picture(gallery, key, .original), in: context)
///     try await request?.perform(over: client)
public protocol NetworkRequest: Sendable {
    /// Makes the request for a wish; nil if the wish is of another kind or nothing is missing.
    static func make(for subject: Wish.Subject, in context: RequestContext) throws -> Self?

    /// The thing to fetch. Requests for the same thing join.
    var identity: RequestIdentity { get }
    var address: Address { get }
    /// The kind of transfer, for the governor.
    var kind: TransferKind { get }
    /// Bytes left by an interrupted attempt.
    var held: ByteCount { get }
    /// Whether a copy is held, so that the answer is most likely 304.
    var isAskedAfter: Bool { get }
    /// Whether the cache holds a failure of it.
    var hasFailedBefore: Bool { get }
    /// Whether the user has named the server. Otherwise Vitrine asks for a password only when the user opens the photo.
    var isNamedByUser: Bool { get }

    /// Returns what to request. Each attempt gets a new file.
    func plan() throws -> FetchPlan
    /// Returns a plan's partial file to the cache after an attempt without an answer.
    func takeBack(_ plan: FetchPlan)
    /// Stores the answer in the cache. Its status is 200, or 304 if the plan has validators.
    func process(_ response: inout Response) async throws

    /// Shows that the request has started.
    func showStarted()
    /// Shows that the request is over: it succeeded, or failed permanently.
    func showDone()
    /// Records a temporary failure in the cache; another attempt will follow.
    func recordPostponement(_ failure: Failure) async
    /// Shows a wait for another attempt; the time is nil if it is unknown.
    ///
    /// Called again when the time changes. Not called if the request was cancelled or sent again meanwhile.
    func showWaiting(_ failure: Failure, until time: Timestamp?)
    /// Records a final failure in the cache.
    func recordFailure(_ failure: Failure) async
    /// Shows that the request was cancelled. Writes nothing.
    func showCancelled()
}

extension NetworkRequest {
    /// No bytes, the default.
    public var held: ByteCount { 0 }

    /// False, the default.
    public var isAskedAfter: Bool { false }

    /// True, the default: the user has named the gallery.
    public var isNamedByUser: Bool { true }

    /// Does nothing, the default.
    public func takeBack(_ plan: FetchPlan) {}

    /// Sends the request once and processes the answer.
    @discardableResult
    public func perform(
        over client: HTTPClient, with permit: TransferPermit = TransferPermit()
    ) async throws -> HTTPMetrics? {
        let plan = try plan()
        var response = try await answer(to: plan, over: client, with: permit)
        try await process(&response)
        return response.metrics
    }

    private func answer(
        to plan: FetchPlan, over client: HTTPClient, with permit: TransferPermit
    ) async throws -> Response {
        do {
            return try await Response.to(plan, over: client, with: permit)
        } catch {
            if error is CancellationError || RequestError(error).keepsPartialFile { takeBack(plan) }
            throw error
        }
    }

    /// The request as the governor sees it.
    func candidate(_ importance: Importance) -> TransferCandidate {
        let port = address.port.map { ":\($0)" } ?? ""
        return TransferCandidate(
            host: address.scheme == .file ? "" : "\(address.scheme.rawValue)://\(address.host)\(port)",
            isSecure: address.scheme == .https,
            importance: importance, kind: kind, held: Double(held), isAskedAfter: isAskedAfter)
    }
}

/// The target of a request: a subject in one edition.
public struct RequestIdentity: Hashable, Sendable {
    /// The subject.
    public let subject: Wish.Subject
    /// Counts the changes of the subject. A request for an older edition is of no use.
    public let edition: Int

    /// Makes an identity.
    public init(_ subject: Wish.Subject, edition: Int = 0) {
        self.subject = subject
        self.edition = edition
    }
}

/// The services that requests use.
public struct RequestContext: Sendable {
    /// The caches that store the answers.
    public let caches: CacheFolder
    /// The activity that shows progress.
    public let activity: Activity
    /// The log.
    public let log: Log
    /// Returns the time of day.
    public let now: @Sendable () -> Timestamp

    /// Makes a context.
    public init(
        caches: CacheFolder, activity: Activity, log: Log,
        now: @escaping @Sendable () -> Timestamp = { Timestamp(milliseconds: Log.systemTime()) }
    ) {
        self.caches = caches
        self.activity = activity
        self.log = log
        self.now = now
    }
}

/// Makes requests for wishes.
struct RequestFactory: Sendable {
    private let kinds: [any NetworkRequest.Type]
    private let context: RequestContext

    init(_ kinds: [any NetworkRequest.Type], _ context: RequestContext) {
        (self.kinds, self.context) = (kinds, context)
    }

    /// Makes the request for a subject; nil if nothing is missing.
    func request(for subject: Wish.Subject) throws -> (any NetworkRequest)? {
        for kind in kinds {
            if let request = try kind.make(for: subject, in: context) { return request }
        }
        return nil
    }

    /// The governor's view of a queued wish. A wish without a request starts at once, and is settled then.
    func candidate(_ wish: Wish) -> TransferCandidate {
        let request = (try? request(for: wish.subject)).flatMap { $0 }
        return request?.candidate(wish.importance)
            ?? TransferCandidate(host: "", importance: wish.importance, kind: .thumbnail)
    }
}
