import Model
import Session
import TestSupport
import Testing

@testable import Cache
@testable import Networking

/// A sweep beside what is looked at.
@Suite(.unlessItHangs) struct BulkFetchingTests {
    /// The sweep would come to it later, and begin it anew.
    @Test func whatRunsGoesOnForASweep() async throws {
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
        let sweep = Wish.Subject.everyPicture(test.cache.id, .thumbnail)
        test.wishes.ask(for: sweep, importance: .rest)
        try await test.until { requests("/t/n0") == 1 }
        test.wishes.withdraw(wisher)
        try await test.until { requests("/t/n598") == 1 }
        gate.open()
        try await test.until { !test.wishes.isStanding(sweep) }
        #expect(requests("/t/n599") == 1)
        #expect(try test.cache.read { try $0.wanting(.thumbnail, limit: 1, after: nil, except: []) }.isEmpty)
    }

    /// A sweep would remove its own pictures for the next ones, and fetch them again.
    @Test("BEHAVIOURS 4.2: a sweep ends where the caches have no room for what nobody looks at")
    func shortOfRoom() async throws {
        let test = try NetworkTest(limit: 1_000_000)
        let ids = (0..<600).map { "n\($0)" }
        test.putGallery(ids)
        let controller = test.makeController()
        test.start(controller)
        try await test.refresh()
        let space = test.context.caches.space
        space.recordCount(950_000, isCleaned: true)
        let sweep = Wish.Subject.everyPicture(test.cache.id, .thumbnail)
        test.wishes.ask(for: sweep, importance: .rest)
        try await test.until { !test.wishes.isStanding(sweep) }
        #expect(test.server.requests.count { $0.path.hasPrefix("/t/") } == 0)
        // Pictures on the screen are fetched all the same.
        let wisher = test.wishes.makeWisher()
        test.wishes.state([Wish(try test.thumbnail("n5"), importance: .visible)], by: wisher)
        try await test.until { test.beginnings(of: "/t/n5") == 1 }
        test.wishes.withdraw(wisher)
        // Once there is room again, it goes on.
        space.recordCount(500_000, isCleaned: true)
        test.wishes.ask(for: sweep, importance: .rest)
        try await test.until { !test.wishes.isStanding(sweep) }
        #expect(try test.cache.read { try $0.wanting(.thumbnail, limit: 1, after: nil, except: []) }.isEmpty)
    }
}
