import Model
import Session
import Synchronization
import TestSupport
import Testing
import Scheduling

@testable import Cache
@testable import Networking

/// A server that answers 429, and may state a wait.
@Suite struct SilenceTests {
    private let test: NetworkTest
    private let ids = (0..<60).map { "n\($0)" }
    /// When each thumbnail was requested.
    private let times = Times()

    private final class Times: Sendable {
        private let all = Mutex<[Duration]>([])
        private let refusal = Mutex<[ScriptedServer.Step]?>(nil)

        var taken: [Duration] { all.withLock { $0 } }

        func refuse(_ answer: [ScriptedServer.Step]?) { refusal.withLock { $0 = answer } }

        func answer(_ path: String, at now: Duration) -> [ScriptedServer.Step]? {
            guard path.hasPrefix("/t/") else { return nil }
            all.withLock { $0.append(now) }
            return refusal.withLock { $0 }
        }
    }

    init() throws { test = try NetworkTest() }

    /// Asks for all thumbnails, and waits until the first ones are refused. The server answers after the controller has
    /// sent as many requests as it sends without an answer.
    private func askForAll(_ refusal: [ScriptedServer.Step]) async throws -> NetworkController {
        let gate = Gate()
        test.putGallery(ids)
        test.answer.withLock { [times, clock = test.clock] in $0 = { times.answer($0.path, at: clock.now) } }
        times.refuse([.hold(gate)] + refusal)
        let controller = test.start(test.makeController(governor: AdaptiveGovernor()))
        try await test.refresh()
        test.wishes.state(
            try ids.map { Wish(try test.thumbnail($0), importance: .visible) }, by: test.wishes.makeWisher())
        try await test.until { [test, ids] in ids.contains { test.hasBegun("/t/\($0)") } }
        await controller.finishTurn()
        gate.open()
        try await test.until { [test, times] in
            !times.taken.isEmpty && test.activity.failures.count == times.taken.count
                && test.activity.traffic?.running == 0
        }
        await controller.finishTurn()
        return controller
    }

    @Test(
        "BEHAVIOURS 5.3: after 429 a host gets no other request until the wait is over, or for a second",
        arguments: [30, nil])
    func theOthersAreNotAskedForEither(wait: Int?) async throws {
        let controller = try await askForAll(.answer(429, headers: wait.map { ["Retry-After: \($0)"] } ?? []))
        let refused = times.taken.count
        #expect(refused < ids.count / 2, "\(refused)")
        // The reports name the reason for the others' wait.
        let watch = test.activity.watchTraffic()
        try await test.until { [test] in test.activity.traffic?.transfers.isEmpty == false }
        let reason = RequestError.status(429, retryAfter: nil).failure
        let stages = test.activity.traffic?.transfers.map(\.stage) ?? []
        #expect(stages.count { $0 == .heldBack(reason, attempts: 0) } == ids.count - refused, "\(stages)")
        withExtendedLifetime(watch) {}
        times.refuse(nil)
        try await test.letTimePass(for: controller) { [test, ids] in
            try ids.allSatisfy { try test.photo($0).thumbnail.isCurrent }
        }
        #expect(times.taken.count == ids.count + refused)
        #expect(times.taken.dropFirst(refused).allSatisfy { $0 >= .seconds(wait ?? 1) })
    }

    @Test("BEHAVIOURS 5.3: 429 to one of many folders also silences the other requests to the host")
    func refusedFolder() async throws {
        test.putGallery(ids)
        let page = """
            <html><head><title>Index of /</title></head><body><pre><a href="../">../</a>
            <a href="inner/">inner/</a>   25-Nov-2026 21:00  -
            <a href="a.jpg">a.jpg</a>   25-Nov-2026 21:00  9
            </pre></body></html>
            """
        test.put("/album/", .answer(200, page, headers: ["Content-Type: text/html"]))
        test.put("/album/inner/", .answer(429, headers: ["Retry-After: 30"]))
        let controller = test.makeController(governor: AdaptiveGovernor())
        let snapshots = test.wishes.snapshots()
        func turn() async throws { await controller.take(try #require(await snapshots.next())) }
        test.wishes.ask(for: test.list)
        try await turn()
        try await test.until { [test] in !test.wishes.isStanding(test.list) }
        let album = try test.context.caches.open(Address(test.server.url("/album/")))
        test.wishes.ask(for: .list(album.id))
        try await turn()
        try await test.until { [test] in
            if case .waiting? = test.activity.part(of: album.id).phase { true } else { false }
        }
        test.wishes.state(
            try ids.map { Wish(try test.thumbnail($0), importance: .visible) }, by: test.wishes.makeWisher())
        try await turn()
        #expect(await controller.importances == [.list])
        test.clock.advance(to: .seconds(31))
        await controller.look()
        #expect(await controller.importances.contains(.visible))
        test.wishes.stop(.list(album.id))
        try await turn()
    }

    @Test func theShownPhotoIsStillRequested() async throws {
        _ = try await askForAll(.answer(429, headers: ["Retry-After: 30"]))
        test.wishes.state([Wish(try test.full("n59"), importance: .lookedAt)], by: test.wishes.makeWisher())
        try await test.until { [test] in test.server.requests.contains { $0.path == "/p/n59" } }
        #expect(test.clock.now < .seconds(30))
    }

    @Test func aRetryEndsTheSilence() async throws {
        let controller = try await askForAll(.answer(429, headers: ["Retry-After: 30"]))
        let refused = try #require(test.activity.failures.first?.subject)
        times.refuse(nil)
        test.clock.advance(to: .seconds(2))
        test.wishes.retry([refused])
        // The retried one and all others come; those refused with it wait for their time.
        try await test.until { [times, ids] in times.taken.count == ids.count + 1 }
        #expect(times.taken.allSatisfy { $0 < .seconds(3) })
        await controller.finishTurn()
    }

    /// A 503 may concern a single picture that is not ready.
    @Test func a503StopsNoOtherRequests() async throws {
        test.putGallery(ids)
        test.put("/t/n0", .answer(503, headers: ["Retry-After: 30"]))
        test.start(test.makeController(governor: AdaptiveGovernor()))
        try await test.refresh()
        test.wishes.state(
            try ids.map { Wish(try test.thumbnail($0), importance: .visible) }, by: test.wishes.makeWisher())
        try await test.until { [test, ids] in
            try ids.dropFirst().allSatisfy { try test.photo($0).thumbnail.isCurrent }
        }
        #expect(test.clock.now < .seconds(30))
    }
}
