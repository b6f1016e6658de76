import Glibc
import Session
import Model
import TestSupport
import Testing

@testable import Cache
@testable import Networking

/// Photos that the disk refuses. Each attempt would transfer the whole photo.
@Suite struct UnstoredPhotoTests {
    private let test: NetworkTest

    init() throws { test = try NetworkTest() }

    enum Asking: CaseIterable { case hurry, update }

    @Test(
        "BEHAVIOURS 5.3: a photo that the disk refused is fetched again on request",
        arguments: Asking.allCases)
    func whenSomebodyAsks(asking: Asking) async throws {
        test.putGallery(["a"])
        let controller = test.start()
        try await test.refresh()
        #expect(rmdir(test.cache.files.photosFolder) == 0)
        let photo = try test.full("a")
        test.wishes.state([Wish(photo, importance: .lookedAt)], by: test.wishes.makeWisher())
        try await test.until { [test] in try test.photo("a").original.trouble != nil }
        await controller.finishTurn()
        #expect(test.activity.failures.map(\.next) == [nil] && test.clock.alarms.isEmpty)
        guard case .putOff = try test.photo("a").original.trouble else {
            Issue.record("the photo is not to blame")
            return
        }
        test.clock.advance(to: .seconds(86_400))
        await controller.finishTurn()
        #expect(test.paths.count { $0 == "/p/a" } == 1)
        #expect(mkdir(test.cache.files.photosFolder, 0o700) == 0)
        switch asking {
        case .hurry: test.wishes.retry([photo])
        case .update: test.wishes.ask(for: test.list)
        }
        try await test.until { [test] in try test.photo("a").original.isCurrent }
        #expect(test.paths.count { $0 == "/p/a" } == 2)
    }

    /// A command ends and reports what is missing.
    @Test func withoutAUserTheRequestFailsAtOnce() async throws {
        let ids = (0..<200).map { "n\($0)" }
        test.putGallery(ids)
        test.start(maximumAttempts: 5)
        try await test.refresh()
        #expect(rmdir(test.cache.files.photosFolder) == 0)
        let sweep = Wish.Subject.everyPicture(test.cache.id, .original)
        test.wishes.ask(for: sweep, importance: .near)
        try await test.until { [test] in !test.wishes.isStanding(sweep) }
        #expect(test.activity.takeNotices() == [StorageTrouble.missing.notice])
        // Those under way before the first was stored. On a busy machine, one was seldom requested a second time.
        #expect(test.paths.count { $0.hasPrefix("/p/") } < ids.count / 2)
        #expect(test.paths.count - Set(test.paths).count <= 1)
    }
}
