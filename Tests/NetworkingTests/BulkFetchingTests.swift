import Model
import Session
import TestSupport
import Testing

@testable import Cache
@testable import Networking

/// Bulk fetches beside visible pictures.
@Suite(.unlessItHangs) struct BulkFetchingTests {
    /// The bulk fetch would start it again later.
    @Test func aBulkFetchTakesOverRunningTransfers() async throws {
        let test = try NetworkTest()
        let gate = Gate()
        defer { gate.open() }
        let ids = (0..<600).map { "n\($0)" }
        test.putGallery(ids)
        test.put("/t/n599", [.hold(gate)] + .answer(200, NetworkTest.picture("last")))
        let requests: @Sendable (String) -> Int = { path in test.server.requests.count { $0.path == path } }
        let controller = test.makeController()
        test.start(controller)
        try await test.refresh()
        let wisher = test.wishes.makeWisher()
        test.wishes.state([Wish(try test.thumbnail("n599"), importance: .visible)], by: wisher)
        try await test.until { test.beginnings(of: "/t/n599") == 1 }
        let fetch = Wish.Subject.everyPicture(test.cache.id, .thumbnail)
        test.wishes.ask(for: fetch, importance: .rest)
        try await test.until { requests("/t/n0") == 1 }
        test.wishes.withdraw(wisher)
        try await test.until { requests("/t/n598") == 1 }
        gate.open()
        try await test.until { !test.wishes.isStanding(fetch) }
        #expect(requests("/t/n599") == 1)
        #expect(try test.cache.read { try $0.wanting(.thumbnail, limit: 1, after: nil, except: []) }.isEmpty)
    }

    @Test("A picture that the user skipped is fetched when the user updates the gallery during the bulk fetch")
    func skippedPictures() async throws {
        let test = try NetworkTest()
        let gate = Gate()
        defer { gate.open() }
        test.putGallery(["a", "b"])
        for id in ["a", "b"] { test.put("/p/\(id)", [.hold(gate)] + .answer(200, NetworkTest.picture(id))) }
        let controller = test.makeController(width: 1)
        let snapshots = test.wishes.snapshots()
        func turn() async throws { await controller.take(try #require(await snapshots.next())) }
        test.wishes.ask(for: test.list)
        try await turn()
        try await test.until { !test.wishes.isStanding(test.list) }
        let fetch = Wish.Subject.everyPicture(test.cache.id, .original)
        test.wishes.ask(for: fetch, importance: .rest)
        try await turn()
        try await test.until { test.hasBegun("/p/a") }
        let skipped = try test.full("a")
        test.wishes.decline(skipped)
        try await turn()
        try await test.until { test.hasBegun("/p/b") }
        // As the key r does.
        test.wishes.retry(test.cache.id)
        test.wishes.ask(for: fetch, importance: .rest)
        try await turn()
        #expect(await controller.isQueued(skipped))
        gate.open()
        try await test.until { !test.wishes.isStanding(fetch) }
        #expect(try ["a", "b"].allSatisfy { try test.photo($0).original.isCurrent })
    }

    /// In a full cache, each new picture would replace one of the same bulk fetch.
    @Test("BEHAVIOURS 4.2: a bulk fetch ends when the caches are full")
    func fullCaches() async throws {
        let test = try NetworkTest(limit: 1_000_000)
        let ids = (0..<600).map { "n\($0)" }
        test.putGallery(ids)
        let controller = test.makeController()
        test.start(controller)
        try await test.refresh()
        let space = test.context.caches.space
        space.recordCount(950_000, isCleaned: true)
        let fetch = Wish.Subject.everyPicture(test.cache.id, .thumbnail)
        test.wishes.ask(for: fetch, importance: .rest)
        try await test.until { !test.wishes.isStanding(fetch) }
        #expect(test.server.requests.count { $0.path.hasPrefix("/t/") } == 0)
        // Visible pictures are fetched anyway.
        let wisher = test.wishes.makeWisher()
        test.wishes.state([Wish(try test.thumbnail("n5"), importance: .visible)], by: wisher)
        try await test.until { test.beginnings(of: "/t/n5") == 1 }
        test.wishes.withdraw(wisher)
        // With free space it goes on.
        space.recordCount(500_000, isCleaned: true)
        test.wishes.ask(for: fetch, importance: .rest)
        try await test.until { !test.wishes.isStanding(fetch) }
        #expect(try test.cache.read { try $0.wanting(.thumbnail, limit: 1, after: nil, except: []) }.isEmpty)
    }
}
