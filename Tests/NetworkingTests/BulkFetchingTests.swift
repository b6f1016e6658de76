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
