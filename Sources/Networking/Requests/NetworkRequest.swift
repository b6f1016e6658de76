import Cache
import HTTP
import Logging
import Model
import Numbers
import Scheduling
import Session

/// One kind of request. Each type that conforms determines the address, the limits, and the way to store the answer in
/// the cache.
///
/// The controller knows requests only by this protocol. A new kind is a new type and an entry in the controller's list
/// of kinds. A request can also run without the controller:
///
///     let request = try PhotoRequest.make(for: .picture(gallery, key, .original), in: context)
///     try await request?.perform(over: client)
public protocol NetworkRequest: Sendable {
    /// Creates the request for a wish. Returns nil if the wish is of another kind or nothing is missing.
    static func make(for subject: Wish.Subject, in context: RequestContext) throws -> Self?

    /// The target of the request. Wishes for the same target share one request.
    var identity: RequestIdentity { get }
    var address: Address { get }
    /// The kind of transfer, for the governor.
    var kind: TransferKind { get }
    /// The number of bytes that an interrupted attempt left.
    var held: ByteCount { get }
    /// Whether the cache holds a copy, so that the answer is probably 304 (Not Modified).
    var isAskedAfter: Bool { get }
    /// Whether the cache has recorded a failure of this request.
    var hasFailedBefore: Bool { get }
    /// Whether the user has named the server. Otherwise Vitrine requests a password only when the user opens the photo.
    var isNamedByUser: Bool { get }
    /// Whether another request may have to follow for the same wish.
    var mayBeFollowed: Bool { get }

    /// Fetches the target and stores it in the cache.
    func perform(over client: HTTPClient, with permit: TransferPermit) async throws

    /// Shows that the request has started.
    func showStarted()
    /// Shows that the request has succeeded or failed permanently.
    func showDone()
    /// Records a temporary failure in the cache; another attempt will follow.
    func recordPostponement(_ failure: Failure) async
    /// Shows a wait for another attempt. The time is nil if it is unknown.
    ///
    /// The controller calls this again when the time changes. It does not call this if the request was cancelled or
    /// sent again meanwhile.
    func showWaiting(_ failure: Failure, until time: Timestamp?)
    /// Records a final failure in the cache.
    func recordFailure(_ failure: Failure) async
    /// Shows that the request was cancelled. Writes nothing to the cache.
    func showCancelled()
}

extension NetworkRequest {
    /// By default zero, because no bytes are kept after an interrupted attempt.
    public var held: ByteCount { 0 }

    /// By default false, because the cache holds no copy.
    public var isAskedAfter: Bool { false }

    /// By default true, because the user has named the gallery.
    public var isNamedByUser: Bool { true }

    /// By default false, because one request fulfils a wish.
    public var mayBeFollowed: Bool { false }

    /// By default, does nothing, because the photo's row shows the state of a small picture.
    public func showStarted() {}

    /// By default, does nothing, because the photo's row shows the result.
    public func showDone() {}

    /// By default, does nothing, because the photo's row shows the failure.
    public func showWaiting(_ failure: Failure, until time: Timestamp?) {}

    /// By default, does nothing, because screens show no progress of small pictures.
    public func showCancelled() {}

    /// Performs the request alone, without a governor.
    public func perform(over client: HTTPClient) async throws {
        try await perform(over: client, with: TransferPermit())
    }

    /// Returns the description of the request for the governor.
    func candidate(_ importance: Importance) -> TransferCandidate {
        let port = address.port.map { ":\($0)" } ?? ""
        return TransferCandidate(
            host: address.scheme == .file ? "" : "\(address.scheme.rawValue)://\(address.host)\(port)",
            isSecure: address.scheme == .https,
            importance: importance, kind: kind, held: Double(held), isAskedAfter: isAskedAfter)
    }
}

/// A request that needs only one transfer.
public protocol TransferRequest: NetworkRequest {
    /// Returns the details of the next attempt. Each attempt gets a new file.
    func plan() throws -> FetchPlan
    /// Gives a partial file back to the cache, if no answer came.
    func takeBack(_ plan: FetchPlan)
    /// Stores the answer in the cache. ``Response`` lists the possible statuses.
    func process(_ response: inout Response) async throws
}

extension TransferRequest {
    /// By default, does nothing.
    public func takeBack(_ plan: FetchPlan) {}

    /// Sends the request once and processes the answer.
    public func perform(over client: HTTPClient, with permit: TransferPermit) async throws {
        let plan = try plan()
        var response = try await answer(to: plan, over: client, with: permit)
        try await process(&response)
    }

    private func answer(
        to plan: FetchPlan, over client: HTTPClient, with permit: TransferPermit
    ) async throws -> Response {
        do {
            return try await plan.answer(over: client, with: permit)
        } catch {
            if error is CancellationError || RequestError(error).keepsPartialFile { takeBack(plan) }
            throw error
        }
    }
}

/// The target of a request: a subject in one edition.
public struct RequestIdentity: Hashable, Sendable {
    /// The subject to fetch.
    public let subject: Wish.Subject
    /// The number of the subject's edition, which increases with each change. A request for an older edition is
    /// useless.
    public let edition: Int

    /// Creates an identity.
    public init(_ subject: Wish.Subject, edition: Int = 0) {
        self.subject = subject
        self.edition = edition
    }
}

/// The services that requests use.
public struct RequestContext: Sendable {
    /// The caches in which requests store the answers.
    public let caches: CacheFolder
    /// The activity, on which requests show their progress.
    public let activity: Activity
    /// The log for requests.
    public let log: Log
    /// The object that follows the folders of local galleries; nil to follow no folders.
    public let folders: LocalFolders?
    /// Whether no request may use the network.
    public let isOffline: Bool
    /// The tokens of servers that require a token in the addresses of pictures.
    let tokens: PictureTokens
    /// The sessions of Piwigo users who signed in with name and password.
    let sessions = PiwigoSessions()
    /// The photo libraries that wait for a sign-in.
    let lockedLibraries = LockedLibraries()
    /// The HEIC photos whose first bytes have arrived.
    let begunPhotos = BegunPhotos()
    /// Returns the present time.
    public let now: @Sendable () -> Timestamp
    /// The clock for waits within a request.
    let clock: any NetworkClock

    /// Creates a context.
    public init(
        caches: CacheFolder, activity: Activity, log: Log, folders: LocalFolders? = nil,
        isOffline: Bool = false, clock: any NetworkClock = MachineClock(),
        now: @escaping @Sendable () -> Timestamp = { Timestamp(milliseconds: Log.systemTime()) }
    ) {
        self.caches = caches
        self.activity = activity
        self.log = log
        self.folders = folders
        self.isOffline = isOffline
        self.now = now
        self.clock = clock
        tokens = PictureTokens(clock)
    }

    /// Waits for a gallery's server that is too busy, and shows the wait.
    func wait(_ duration: Duration, because refusal: RequestError, for cache: GalleryCache) async throws {
        let end = Timestamp(milliseconds: now().milliseconds + duration.components.seconds * 1_000)
        activity.setPhase(.waiting(refusal.failure, until: end), of: cache.id)
        log.info(.network, "\(cache.address): \(refusal.failure); will go on after \(duration)")
        try await clock.sleep(until: clock.now + duration)
        activity.setPhase(.getting(Progress(done: 0)), of: cache.id)
    }
}

/// Creates requests for wishes.
struct RequestFactory: Sendable {
    private let kinds: [any NetworkRequest.Type]
    private let context: RequestContext

    init(_ kinds: [any NetworkRequest.Type], _ context: RequestContext) {
        (self.kinds, self.context) = (kinds, context)
    }

    /// Creates the request for a subject. Returns nil if nothing is missing.
    func request(for subject: Wish.Subject) throws -> (any NetworkRequest)? {
        for kind in kinds {
            if let request = try kind.make(for: subject, in: context) { return request }
        }
        return nil
    }

    /// Whether another request must follow a successful one for the same subject.
    func isIncomplete(_ subject: Wish.Subject, after done: any NetworkRequest) -> Bool {
        done.mayBeFollowed && (try? request(for: subject)) != nil
    }

    /// Whether the cache shows an earlier failure of a subject's request.
    func hasFailed(_ subject: Wish.Subject) -> Bool {
        (try? request(for: subject))?.hasFailedBefore == true
    }

    /// Returns the description of a queued wish for the governor. A wish that needs no request counts as local, so it
    /// starts at once and is settled.
    func candidate(_ wish: Wish) -> TransferCandidate {
        (try? request(for: wish.subject))?.candidate(wish.importance)
            ?? TransferCandidate(host: "", importance: wish.importance, kind: .thumbnail)
    }
}
