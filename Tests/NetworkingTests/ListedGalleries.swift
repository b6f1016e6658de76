import HTTP
import Logging
import Model
import Session
import Synchronization
import TestSupport
import Testing

@testable import Cache
@testable import Networking

/// Caches of galleries, and updates of their lists without a controller.
struct ListedGalleries {
    let context: RequestContext
    let clock = SkippingClock()
    private let folder = TestFolder()
    private let client: HTTPClient

    /// - Parameter certificates: the file of the authority that signed the servers' certificates; nil for the system's.
    init(certificates: String? = nil) throws {
        client = HTTPClient(HTTPConfiguration(certificates: certificates), log: Log())
        let log = Log()
        let caches = try CacheFolder(path: folder.path("cache"), log: log)
        context = RequestContext(
            caches: caches, activity: Activity(), log: log, clock: clock, now: { Timestamp(milliseconds: 42_000) })
    }

    func open(_ url: String) throws -> GalleryCache { try context.caches.open(Address(url)) }

    /// Updates a gallery.
    func list(_ cache: GalleryCache) async throws {
        let request = try #require(try GalleryListRequest.make(for: .list(cache.id), in: context))
        try await request.perform(over: client)
    }

    /// Updates a gallery. Returns the failure as the user sees it; empty after a success.
    func failure(_ cache: GalleryCache) async -> String {
        do { try await list(cache) } catch { return "\(RequestError(error).failure)" }
        return ""
    }

    /// Stores the kind of a server's folder before the first update.
    func assume(_ kind: GalleryKind, of cache: GalleryCache) async throws {
        _ = try await cache.writer.commit(
            try cache.beginSync().finish(), skipped: 0, validators: Validators(),
            source: ListSource(kind: kind, root: cache.address), at: Timestamp(milliseconds: 1))
    }

    /// Returns the ids of all photos in a cache, sorted.
    func ids(_ cache: GalleryCache) throws -> [String] {
        var ids: [String] = []
        try cache.read { try $0.forEachPhoto { ids.append($0.galleryID) } }
        return ids.sorted()
    }
}

/// A clock on which each wait ends at once. It records the waits.
final class SkippingClock: NetworkClock {
    private let state = Mutex<(now: Duration, waits: [Duration], onWait: @Sendable () -> Void)>((.zero, [], {}))

    var now: Duration { state.withLock { $0.now } }

    /// The waits so far.
    var waits: [Duration] { state.withLock { $0.waits } }

    /// Sets what happens during a wait.
    func whileWaiting(_ body: @escaping @Sendable () -> Void) { state.withLock { $0.onWait = body } }

    func sleep(until time: Duration) async throws {
        try Task.checkCancellation()
        let body = state.withLock { state in
            state.waits.append(time - state.now)
            state.now = time
            return state.onWait
        }
        body()
    }
}
