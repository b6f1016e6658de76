import HTTP
import Logging
import Model
import Scheduling
import Session
import TestSupport
import Testing

@testable import Cache
@testable import Networking

/// Caches of galleries on servers, and a controller that fulfils wishes while a test runs.
struct ServedGalleries {
    let log = Log(level: .debug)
    let activity = Activity()
    let wishes = Wishes()
    let credentials = CredentialStore()
    let context: RequestContext
    let client: HTTPClient
    private let folder = TestFolder()

    /// The path of the folder with the caches.
    var cacheFolder: String { folder.path("cache") }

    init() throws {
        let caches = try CacheFolder(
            path: folder.path("cache"), log: log, activity: activity, credentials: credentials)
        context = RequestContext(caches: caches, activity: activity, log: log)
        client = HTTPClient(log: log)
    }

    /// Opens an address and runs a controller meanwhile.
    func opening(
        _ url: String, signedInAs signIn: SignIn? = nil, _ body: (GalleryCache) async throws -> Void
    ) async throws {
        let cache = try context.caches.open(Address(url))
        if let signIn { enter(signIn, cache) }
        let controller = NetworkController(
            wishes: wishes, context: context, client: client, schedule: .inQuickSuccession)
        let running = Task { await controller.run() }
        defer { running.cancel() }
        try await body(cache)
    }

    /// Asks for a subject and waits until nothing is left to do.
    func fetch(_ subject: Wish.Subject) async {
        wishes.ask(for: subject)
        for await snapshot in wishes.snapshots() where snapshot.wishes.isEmpty { return }
    }

    /// Updates the list of a gallery. Returns the requests of the update.
    func update(_ cache: GalleryCache, _ server: some RecordingServer) async -> [String] {
        let before = server.requests.count
        await fetch(.list(cache.id))
        return Array(server.requests.dropFirst(before))
    }

    /// Updates the list of a gallery without a controller, as if days had passed. Returns the requests of the update.
    func update(
        _ cache: GalleryCache, _ server: some RecordingServer, afterDays days: Double
    ) async throws -> [String] {
        let time = context.now().advanced(by: days * 86_400)
        let later = RequestContext(caches: context.caches, activity: activity, log: log, now: { time })
        let before = server.requests.count
        let request = try #require(try GalleryListRequest.make(for: .list(cache.id), in: later))
        try await request.perform(over: client)
        return Array(server.requests.dropFirst(before))
    }

    /// Returns the requests that the server understood, in their order.
    ///
    /// Requests that find out the kind of server run beside the others, so their order is by chance. Those for other kinds of
    /// servers are answered with 404.
    static func understood(_ requests: [String]) -> [String] { requests.filter { !$0.hasSuffix(" 404") } }

    /// Returns all photos of a gallery, in order of date.
    func photos(_ cache: GalleryCache) throws -> [Photo] {
        var photos: [Photo] = []
        try cache.read { try $0.forEachPhoto { photos.append($0) } }
        return photos
    }

    /// Returns the traces of secrets in the caches and in the log.
    func traces(of secrets: [String]) -> [String] {
        secrets.map(Secret.init).flatMap { secret in
            secret.traces(below: cacheFolder) + log.entries.flatMap { secret.traces(in: $0.message) }
        }
    }

    /// Returns the failure of a gallery's last update.
    func failure(_ cache: GalleryCache) throws -> Failure? { try cache.read { try $0.gallery() }.failure }

    /// Answers the question for credentials.
    func enter(_ signIn: SignIn, _ cache: GalleryCache) {
        guard let origin = cache.address.origin else { return }
        let place = SignInPlace.origin(origin)
        activity.withdrawQuestion(place)
        credentials.take(signIn, for: place, by: [cache.id])
    }
}

extension RetrySchedule {
    /// A schedule for tests with real servers. The program's own could wait for an hour after a few failures.
    static var inQuickSuccession: Self { Self(maximumAttempts: 5, random: { 0 }) }
}
