import Foundation
import Session
import HTTP
import Logging
import Model
import Concurrency
import Synchronization
import TestSupport
import Scheduling
import Testing

@testable import Cache
@testable import Networking

extension GalleryWriter {
    /// Blocks the writer until a gate opens.
    fileprivate func hold(
        _ gate: Gate, thenCommit changes: SyncChanges?, _ validators: Validators, onHeld: @Sendable () -> Void
    ) throws {
        onHeld()
        gate.wait()
        guard let changes else { return }
        _ = try commit(changes, skipped: 0, validators: validators, at: Timestamp(milliseconds: 43_000))
    }
}

extension GalleryWriter {
    /// Stops the growth of the database, like a full disk.
    func fill() throws {
        try transaction { try $0.execute("PRAGMA max_page_count = 1") }
    }
}

/// A server with a gallery, a cache, and a controller.
final class NetworkTest: Sendable {
    /// The server's answers by path. Tests change them at any time.
    let site = Mutex<[String: [ScriptedServer.Step]]>([:])
    /// Computes answers; nil for those of the site.
    let answer = Mutex<(@Sendable (ScriptedServer.Request) -> [ScriptedServer.Step]?)?>(nil)
    let server: ScriptedServer
    let folder = TestFolder()
    let log = Log(level: .debug)
    let wishes = Wishes()
    let activity = Activity()
    let clock = ManualClock()
    let cache: GalleryCache
    let context: RequestContext
    let client: HTTPClient
    private let running = Mutex<Task<Void, Never>?>(nil)

    /// - Parameters:
    ///   - limit: the cache limit in bytes.
    ///   - isOffline: whether no request may use the network.
    ///   - configure: changes the client's configuration, which has long time-outs.
    init(limit: Int64? = nil, isOffline: Bool = false, configure: (inout HTTPConfiguration) -> Void = { _ in }) throws {
        let holder = SiteHolder()
        server = try ScriptedServer { request in holder.steps(request) }
        let caches = try CacheFolder(path: folder.path("cache"), limit: limit, log: log, activity: activity)
        cache = try caches.open(Address(server.url("/index.xml")))
        context = RequestContext(
            caches: caches, activity: activity, log: log, isOffline: isOffline,
            now: { Timestamp(milliseconds: 42_000) })
        var configuration = HTTPConfiguration(connectTimeout: 600, stallTimeout: 600)
        configure(&configuration)
        client = HTTPClient(configuration, log: log)
        holder.owner.withLock { $0.test = self }
    }

    deinit {
        running.withLock { $0?.cancel() }
        server.stop()
    }

    /// A weak link from the server to the test, which owns the server.
    private final class SiteHolder: Sendable {
        struct Owner { weak var test: NetworkTest? }
        let owner = Mutex(Owner())

        func steps(_ request: ScriptedServer.Request) -> [ScriptedServer.Step] {
            let test = owner.withLock { $0.test }
            if let answer = test?.answer.withLock({ $0 }), let steps = answer(request) { return steps }
            return test?.site.withLock { $0[request.path] } ?? .answer(404, "not here")
        }
    }

    func makeController(
        width: Int = 4, governor: (any Governor)? = nil, maximumAttempts: Int? = nil,
        chance: @escaping @Sendable () -> Double = { 0.5 },
        network: CoalescingStream<NetworkPresence> = CoalescingStream(), disturbance: Disturbance = Disturbance()
    ) -> NetworkController {
        NetworkController(
            wishes: wishes, context: context, client: client,
            governor: governor ?? FixedGovernor(width: width),
            schedule: RetrySchedule(maximumAttempts: maximumAttempts, random: chance), clock: clock, network: network,
            disturbance: disturbance)
    }

    /// Starts a controller.
    @discardableResult
    func start(width: Int = 4, maximumAttempts: Int? = nil) -> NetworkController {
        start(makeController(width: width, maximumAttempts: maximumAttempts))
    }

    /// Starts a given controller.
    @discardableResult
    func start(_ controller: NetworkController) -> NetworkController {
        running.withLock { $0 = Task { await controller.run() } }
        return controller
    }

    /// Stops the controller of ``start``.
    func stop() async {
        let task = running.withLock { $0 }
        task?.cancel()
        await task?.value
    }

    func put(_ path: String, _ steps: [ScriptedServer.Step]) {
        site.withLock { $0[path] = steps }
    }

    /// Sets a gallery of these ids, each dated by its number, with valid pictures.
    func putGallery(_ ids: [String], thumbnails: Bool = true, date: Int = 2006, headers: [String] = []) {
        put("/index.xml", .answer(200, Self.list(ids, thumbnails: thumbnails, date: date), headers: headers))
        for id in ids {
            put("/p/\(id)", .answer(200, Self.picture("photo \(id)")))
            put("/t/\(id)", .answer(200, Self.picture("thumbnail \(id)")))
        }
    }

    static func list(_ ids: [String], thumbnails: Bool = true, date: Int = 2006) -> String {
        let photos = ids.enumerated().map { index, id in
            let time = String(format: "%02d:%02d", index / 60, index % 60)
            return """
                <photo id="\(id)" name="Photo \(id)" date="\(date)-01-01T00:\(time)Z">
                <image kind="image" srcURL="p/\(id)"/>
                \(thumbnails ? "<image kind=\"thumbnail\" srcURL=\"t/\(id)\"/>" : "")</photo>
                """
        }
        return "<album>\(photos.joined())</album>"
    }

    static func picture(_ text: String) -> [UInt8] { [0xFF, 0xD8, 0xFF, 0xE0] + Array(text.utf8) }

    func key(_ id: String) throws -> PhotoKey { try #require(try cache.read { try $0.photo(galleryID: id) }).key }
    func photo(_ id: String) throws -> Photo { try #require(try cache.read { try $0.photo(galleryID: id) }) }
    func thumbnail(_ id: String) throws -> Wish.Subject { .picture(cache.id, try key(id), .thumbnail) }
    func full(_ id: String) throws -> Wish.Subject { .picture(cache.id, try key(id), .original) }
    var list: Wish.Subject { .list(cache.id) }
    var paths: [String] { server.requests.map(\.path) }
    var status: SyncStatus {
        get throws { activity.status(of: cache.id, recorded: try cache.read { try $0.gallery() }.status) }
    }

    /// Whether a transfer of a path has started.
    func hasBegun(_ path: String) -> Bool { beginnings(of: path) > 0 }

    /// How many transfers of a path have started.
    func beginnings(of path: String) -> Int {
        log.entries.count {
            $0.subsystem == .networkDetail && $0.message.hasSuffix(path) && !$0.message.contains(": on to ")
        }
    }

    /// Whether any request was postponed.
    var hasPutOff: Bool { log.entries.contains { $0.message.hasSuffix("will retry") } }

    /// How many transfers were cancelled.
    var cancellations: Int {
        log.entries.count { $0.subsystem == .networkDetail && $0.message.hasSuffix(" cancelled") }
    }

    /// Blocks the cache's writer, and then commits another list first.
    func holdWriter(
        _ gate: Gate, thenCommit changes: SyncChanges? = nil, validators: Validators = Validators()
    ) async {
        await withCheckedContinuation { continuation in
            Task { [cache] in
                try await cache.writer.hold(gate, thenCommit: changes, validators) { continuation.resume() }
            }
        }
    }

    /// Fetches the list and waits for the end.
    func refresh() async throws {
        wishes.ask(for: list)
        try await until { !self.wishes.isStanding(self.list) }
    }

    /// Returns when the condition holds. It is checked after every change of cache, activity, wishes, alarms and log.
    func until(_ condition: @escaping @Sendable () throws -> Bool) async throws {
        for await _ in news() where try condition() { return }
    }

    /// Advances the virtual time from alarm to alarm until the condition holds. The time stands still while transfers
    /// run, since the network's time is not on this clock.
    func letTimePass(for controller: NetworkController, until condition: @escaping @Sendable () throws -> Bool)
        async throws
    {
        for await _ in news() {
            if try condition() { return }
            if await controller.isIdle, let first = clock.alarms.first { clock.advance(to: first) }
        }
    }

    private func news() -> AsyncStream<Void> {
        AsyncStream<Void>(bufferingPolicy: .bufferingNewest(1)) { continuation in
            let (commits, activity, wishes) = (cache.changes(), activity.changes(), wishes.snapshots())
            let alarms = clock.changes()
            let tasks = [
                Task { for await _ in commits { continuation.yield() } },
                Task { for await _ in activity { continuation.yield() } },
                Task { for await _ in wishes { continuation.yield() } },
                Task { for await _ in alarms { continuation.yield() } },
                Task { [log] in for await _ in log.changes { continuation.yield() } },
            ]
            continuation.onTermination = { _ in for task in tasks { task.cancel() } }
            continuation.yield()
        }
    }
}
