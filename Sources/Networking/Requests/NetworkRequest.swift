import Cache
import HTTP
import Logging
import Model
import Numbers
import Scheduling
import Session

/// One kind of thing that is fetched: where it lies, within what bounds, and what becomes of it in the cache.
///
/// The controller runs requests and knows none of them by name. A new kind is a new type and a line where the controller
/// is made. Each can be run alone, against a file and a known cache:
///
///     let request = try PhotoRequest.make(for: .picture(gallery, key, .original), in: context)
///     try await request?.perform(over: client)
public protocol NetworkRequest: Sendable {
    /// The request that serves a wish, or nil if the wish is not for this kind or nothing is wanting.
    static func make(for subject: Wish.Subject, in context: RequestContext) throws -> Self?

    /// What it fetches. Requests for the same thing join.
    var identity: RequestIdentity { get }
    /// Where it lies.
    var address: Address { get }
    /// What it is, to the one who decides what is transferred when.
    var kind: TransferKind { get }
    /// Bytes of it that are here, of an attempt that was interrupted.
    var held: ByteCount { get }
    /// Whether the server is asked for something that is here, and will most likely say that it has not changed.
    var isAskedAfter: Bool { get }
    /// Whether the cache knows that it has failed before.
    var hasFailedBefore: Bool { get }
    /// Whether the user has named where it lies. On a gallery's word alone he is asked for no password, unless he looks at what
    /// wants one.
    var isNamedByUser: Bool { get }

    /// What to ask for. A file in it is made anew for each attempt.
    func plan() throws -> FetchPlan
    /// Takes back what a plan has of an earlier attempt: no answer came to it, and another attempt can go on from there.
    func takeBack(_ plan: FetchPlan)
    /// Takes the answer into the cache. The answer is 200, or 304 where the plan had validators.
    func process(_ response: inout Response) async throws

    /// Notes that work on it begins.
    func noteBegun()
    /// Notes that work on it is over: it has been done, or has failed for good.
    func noteDone()
    /// Keeps in the cache why an attempt failed; another will follow.
    func notePutOff(_ failure: Failure) async
    /// Notes that it waits for another attempt, which is due at that time; nil if the time is not known. Called again when that
    /// changes, and not called if the request was cancelled or sent again while the cache was written.
    func noteWaiting(_ failure: Failure, until time: Timestamp?)
    /// Keeps in the cache why it has failed for good.
    func noteFailed(_ failure: Failure) async
    /// Notes that nobody wants it any more. Nothing is written.
    func noteCancelled()
}

extension NetworkRequest {
    /// Most things are fetched from their beginning.
    public var held: ByteCount { 0 }

    /// Most things are not here.
    public var isAskedAfter: Bool { false }

    /// A gallery itself is.
    public var isNamedByUser: Bool { true }

    /// Most things are fetched from their beginning.
    public func takeBack(_ plan: FetchPlan) {}

    /// Sends the request and processes the answer, once. Returns what the transfer took.
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
            if error is CancellationError || RequestError(error).isForgiving { takeBack(plan) }
            throw error
        }
    }

    /// What a governor is told of it.
    ///
    /// - Parameter importance: how soon it is wanted.
    func candidate(_ importance: Importance) -> TransferCandidate {
        let port = address.port.map { ":\($0)" } ?? ""
        return TransferCandidate(
            host: address.scheme == .file ? "" : "\(address.scheme.rawValue)://\(address.host)\(port)",
            isSecure: address.scheme == .https,
            importance: importance, kind: kind, held: Double(held), isAskedAfter: isAskedAfter)
    }
}

/// What a request fetches: a thing, in one edition of it.
public struct RequestIdentity: Hashable, Sendable {
    /// The thing.
    public let subject: Wish.Subject
    /// Goes up when the thing becomes another. An older request for it is then of no use.
    public let edition: Int

    /// Names what is fetched.
    public init(_ subject: Wish.Subject, edition: Int = 0) {
        self.subject = subject
        self.edition = edition
    }
}

/// What requests work with, handed to each when it is made.
public struct RequestContext: Sendable {
    /// Where the answers go.
    public let caches: CacheFolder
    /// Where progress is noted.
    public let activity: Activity
    /// Where everything is noted.
    public let log: Log
    /// The time of day.
    public let now: @Sendable () -> Timestamp

    /// Puts the four together.
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
