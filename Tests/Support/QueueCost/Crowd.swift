import Cache
import Session
import Foundation
import HTTP
import Logging
import Model
import Networking
import Scheduling

/// The memory of very many wishes for thumbnails while a server answers none of them.
struct Crowd {
    private let cache: GalleryCache
    private let context: RequestContext
    private let wishes = Wishes()
    private let activity = Activity()

    init(_ gallery: String, in folder: String) throws {
        let log = Log()
        let caches = try CacheFolder(path: folder, log: log, activity: activity)
        cache = try caches.open(Address(gallery))
        context = RequestContext(caches: caches, activity: activity, log: log)
    }

    private func start() -> Task<Void, Never> {
        let controller = NetworkController(
            wishes: wishes, context: context, client: HTTPClient(log: context.log), governor: AdaptiveGovernor())
        return Task { await controller.run() }
    }

    /// Fetches the gallery's list.
    func fill() async {
        let running = start()
        let snapshots = wishes.snapshots()
        wishes.ask(for: .list(cache.id))
        for await snapshot in snapshots where snapshot.wishes.isEmpty && isFilled { break }
        running.cancel()
        await running.value
    }

    private var isFilled: Bool { (try? cache.read { try $0.gallery().photoCount }) ?? 0 > 0 }

    /// States wishes for the thumbnails of so many photos, like a screen that shows all. Returns KiB.
    func stand(_ count: Int) async throws -> Int {
        let keys = try cache.read { try $0.wanting(.thumbnail, limit: count, except: []) }
        return try await grown(to: count) {
            wishes.state(
                keys.map { Wish(.picture(cache.id, $0, .thumbnail), importance: .visible) }, by: wishes.makeWisher())
        }
    }

    /// Requests the thumbnails of all photos, like a user who fetches all. Returns KiB.
    ///
    /// - Parameter width: the number of wishes that the controller takes up.
    func sweep(_ width: Int) async throws -> Int {
        try await grown(to: width) { wishes.ask(for: .everyPicture(cache.id, .thumbnail)) }
    }

    /// Returns the memory for the wishes at their peak, beyond that of the program without wishes.
    private func grown(to count: Int, _ wish: () -> Void) async throws -> Int {
        let running = start()
        defer { running.cancel() }
        let changes = activity.changes()
        let before = try resident("VmRSS")
        wish()
        for await change in changes where change.hasTraffic {
            guard let traffic = activity.traffic, traffic.running > 0 else { continue }
            if traffic.running + traffic.queued >= count { break }
        }
        return try resident("VmHWM") - before
    }

    /// Reads a line of /proc/self/status, in KiB.
    private func resident(_ name: String) throws -> Int {
        let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
        let line = status.split(separator: "\n").first { $0.hasPrefix(name + ":") }
        return line.flatMap { Int($0.filter(\.isNumber)) } ?? 0
    }
}
