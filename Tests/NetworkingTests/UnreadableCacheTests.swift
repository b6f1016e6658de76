import HTTP
import Model
import Scheduling
import Synchronization
import Testing

@testable import Cache
@testable import Networking

extension GalleryWriter {
    /// Takes the table of photos away, or brings it back.
    fileprivate func setReadable(_ isReadable: Bool) throws {
        let names = isReadable ? ("hidden", "photo") : ("photo", "hidden")
        try transaction { try $0.execute("ALTER TABLE \(names.0) RENAME TO \(names.1)") }
    }

    /// Refuses all pictures, or takes them again.
    fileprivate func setRefusing(_ isRefusing: Bool) throws {
        let refusal = """
            CREATE TEMP TRIGGER refuse BEFORE UPDATE OF photo_held, thumbnail_held ON photo
            BEGIN SELECT RAISE(ABORT, 'refused'); END
            """
        try transaction { try $0.execute(isRefusing ? refusal : "DROP TRIGGER refuse") }
    }
}

/// A cache that cannot be read for a moment, as without a free file descriptor.
@Suite struct UnreadableCacheTests {
    /// Fails while a test says so, and otherwise leaves all wishes to the next kind.
    private struct Unreadable: NetworkRequest {
        static let isUnreadable = Mutex(false)

        static func make(for subject: Wish.Subject, in context: RequestContext) throws -> Self? {
            guard case .picture = subject else { return nil }
            if isUnreadable.withLock({ $0 }) { throw CacheError.tooFewDescriptors }
            return nil
        }

        /// There is no such request.
        let never: Never
        var identity: RequestIdentity { switch never {} }
        var address: Address { switch never {} }
        var kind: TransferKind { switch never {} }
        var hasFailedBefore: Bool { switch never {} }
        func perform(over client: HTTPClient, with permit: TransferPermit) async throws { switch never {} }
        func showStarted() { switch never {} }
        func showDone() { switch never {} }
        func recordPostponement(_ failure: Failure) async { switch never {} }
        func showWaiting(_ failure: Failure, until time: Timestamp?) { switch never {} }
        func recordFailure(_ failure: Failure) async { switch never {} }
        func showCancelled() { switch never {} }
    }

    @Test("A photo is fetched after the cache could not be read, and the failure is shown meanwhile")
    func retried() async throws {
        let test = try NetworkTest()
        test.putGallery(["a"])
        test.start()
        test.wishes.ask(for: test.list)
        try await test.until { try test.cache.read { try $0.gallery().photoCount } == 1 }
        await test.stop()
        let photo = try test.full("a")
        Unreadable.isUnreadable.withLock { $0 = true }
        let controller = NetworkController(
            wishes: test.wishes, context: test.context, client: test.client, governor: FixedGovernor(width: 4),
            schedule: RetrySchedule(random: { 0.5 }), clock: test.clock,
            kinds: [Unreadable.self, GalleryListRequest.self, ThumbnailRequest.self, PhotoRequest.self])
        test.start(controller)
        test.wishes.ask(for: photo, importance: .lookedAt)
        try await test.until { test.activity.failure(of: photo) != nil }
        Unreadable.isUnreadable.withLock { $0 = false }
        try await test.letTimePass(for: controller) { try test.photo("a").original.isCurrent }
        #expect(test.paths.count { $0 == "/p/a" } == 1)
        await test.stop()
    }

    /// A list of two photos, and a cache that cannot be read.
    private func unreadable(maximumAttempts: Int? = nil) async throws -> (NetworkTest, NetworkController) {
        let test = try NetworkTest()
        test.putGallery(["a", "b"])
        let controller = test.start(maximumAttempts: maximumAttempts)
        try await test.refresh()
        try await test.cache.writer.setReadable(false)
        return (test, controller)
    }

    private static func hasTold(_ test: NetworkTest) -> Bool {
        test.log.entries.contains { $0.subsystem == .cache && $0.message.contains("no such table") }
    }

    @Test("All thumbnails are fetched after the cache could not be read")
    func goesOn() async throws {
        let (test, controller) = try await unreadable()
        let thumbnails = Wish.Subject.everyPicture(test.cache.id, .thumbnail)
        test.wishes.ask(for: thumbnails)
        try await test.until { Self.hasTold(test) }
        #expect(test.wishes.isStanding(thumbnails))
        try await test.cache.writer.setReadable(true)
        try await test.letTimePass(for: controller) { !test.wishes.isStanding(thumbnails) }
        #expect(try test.photo("a").thumbnail.isCurrent && test.photo("b").thumbnail.isCurrent)
        await test.stop()
    }

    @Test("A picture that the cache could not take is fetched by a later run", arguments: Rendition.allCases)
    func fetchedLater(_ rendition: Rendition) async throws {
        let test = try NetworkTest()
        test.putGallery(["a"])
        test.start(maximumAttempts: 2)
        try await test.refresh()
        // SQLite also reports damage after an error of the disk that has passed.
        try await test.cache.writer.setRefusing(true)
        let subject = Wish.Subject.picture(test.cache.id, try test.photo("a").key, rendition)
        test.wishes.ask(for: subject)
        try await test.until { try test.photo("a")[rendition].trouble != nil && !test.wishes.isStanding(subject) }
        guard case .putOff = try test.photo("a")[rendition].trouble else {
            Issue.record("\(try test.photo("a")[rendition])")
            return await test.stop()
        }
        try await test.cache.writer.setRefusing(false)
        test.wishes.ask(for: subject)
        try await test.until { try test.photo("a")[rendition].isCurrent }
        await test.stop()
    }

    @Test("A picture that the cache refuses is not fetched again and again", arguments: Rendition.allCases)
    func refused(_ rendition: Rendition) async throws {
        let test = try NetworkTest()
        test.putGallery(["a", "b"])
        let controller = test.start()
        try await test.refresh()
        try await test.cache.writer.setRefusing(true)
        let before = test.paths.count
        let all = Wish.Subject.everyPicture(test.cache.id, rendition)
        test.wishes.ask(for: all)
        try await test.letTimePass(for: controller) { !test.wishes.isStanding(all) }
        #expect(test.paths.count - before == 2)
        // A picture on the screen is tried once more, and its recorded failure starts no other attempt.
        let seen = Wish.Subject.picture(test.cache.id, try test.photo("a").key, rendition)
        test.wishes.ask(for: seen)
        try await test.letTimePass(for: controller) { !test.wishes.isStanding(seen) }
        try await test.letTimePass(for: controller) { try test.photo("a")[rendition].trouble != nil }
        #expect(test.paths.count - before == 3)
        await test.stop()
    }

    @Test("A command ends if the cache cannot be read at all")
    func ends() async throws {
        let (test, controller) = try await unreadable(maximumAttempts: 2)
        let thumbnails = Wish.Subject.everyPicture(test.cache.id, .thumbnail)
        test.wishes.ask(for: thumbnails)
        try await test.letTimePass(for: controller) { !test.wishes.isStanding(thumbnails) }
        #expect(Self.hasTold(test))
        await test.stop()
    }
}
