import Concurrency
import Model
import Scheduling
import TestSupport
import Testing

@testable import Cache
@testable import Networking

/// A command's host that goes away while it has pictures to give.
@Suite struct LostHostTests {
    private static let ids = (0..<100).map { "p\($0)" }

    /// Fetches a list of 100 photos, whose pictures are at another host than the list.
    private func listed(
        maximumAttempts: Int?, governor: any Governor = AdaptiveGovernor(),
        network: CoalescingStream<NetworkPresence> = CoalescingStream()
    ) async throws -> (NetworkTest, ScriptedServer, NetworkController) {
        let test = try NetworkTest()
        let host = try ScriptedServer { request in .answer(200, NetworkTest.picture(request.path)) }
        let photos = Self.ids.map { id in
            let near = id.hasSuffix("7") ? "" : host.url("/")
            return """
                <photo id="\(id)" name="\(id)" date="2006-01-01T00:00:00Z"><image kind="image" srcURL="\(near)p/\(id)"/>
                <image kind="thumbnail" srcURL="\(near)t/\(id)"/></photo>
                """
        }
        test.putGallery(Self.ids)
        test.put("/index.xml", .answer(200, "<album>\(photos.joined())</album>"))
        let controller = test.start(
            test.makeController(governor: governor, maximumAttempts: maximumAttempts, network: network))
        try await test.refresh()
        try #require(try test.cache.read { try $0.gallery().photoCount } == Self.ids.count)
        return (test, host, controller)
    }

    @Test("A command gives up a host that is gone, and fetches all pictures of the other hosts")
    func givenUp() async throws {
        let (test, host, controller) = try await listed(maximumAttempts: 2)
        host.stop()
        let thumbnails = Wish.Subject.everyPicture(test.cache.id, .thumbnail)
        let start = test.clock.now
        test.wishes.ask(for: thumbnails, importance: .near)
        try await test.letTimePass(for: controller) { !test.wishes.isStanding(thumbnails) }
        // Each picture waited for the host by itself before, which took more than a quarter of an hour.
        #expect(test.clock.now - start < .seconds(90))
        for id in Self.ids {
            let thumbnail = try test.photo(id).thumbnail
            #expect(thumbnail.isCurrent == id.hasSuffix("7"), "\(id)")
            #expect((thumbnail.trouble != nil) != id.hasSuffix("7"), "\(id)")
        }
        // A command that exports asks for single pictures.
        let photo = try test.full("p0")
        test.wishes.ask(for: photo)
        try await test.letTimePass(for: controller) { !test.wishes.isStanding(photo) }
        #expect(try test.photo("p0").original.trouble != nil)
        #expect(test.clock.now - start < .seconds(90))
        await test.stop()
    }

    @Test(
        "A command waits for a host that restarts, and loses no picture", .unlessItHangs,
        arguments: [AdaptiveGovernor(), FixedGovernor(width: 4)] as [any Governor])
    func restarted(governor: any Governor) async throws {
        let (test, host, controller) = try await listed(maximumAttempts: 2, governor: governor)
        // The host answers once, and is then away for six seconds.
        let photo = try test.full("p0")
        test.wishes.ask(for: photo)
        try await test.until { !test.wishes.isStanding(photo) }
        host.interrupt()
        let thumbnails = Wish.Subject.everyPicture(test.cache.id, .thumbnail)
        let start = test.clock.now
        test.wishes.ask(for: thumbnails, importance: .near)
        try await test.letTimePass(for: controller) { test.clock.now - start >= .seconds(6) }
        host.goOn()
        try await test.letTimePass(for: controller) { !test.wishes.isStanding(thumbnails) }
        let missing = try Self.ids.filter { try !test.photo($0).thumbnail.isCurrent }
        #expect(missing.isEmpty && test.clock.now - start < .seconds(30))
        await test.stop()
    }

    @Test("A command gives up a picture if its server redirects to a host that is gone", .unlessItHangs)
    func redirected() async throws {
        let test = try NetworkTest()
        let gone = try ScriptedServer { _ in [.close] }
        gone.interrupt()
        test.putGallery(["p0"])
        test.put("/t/p0", .answer(302, headers: ["Location: \(gone.url("/"))"]))
        let controller = test.start(maximumAttempts: 2)
        try await test.refresh()
        let thumbnail = try test.thumbnail("p0")
        test.wishes.ask(for: thumbnail)
        try await test.letTimePass(for: controller) {
            !test.wishes.isStanding(thumbnail) || test.paths.count { $0 == "/t/p0" } > 2
        }
        #expect(!test.wishes.isStanding(thumbnail) && test.paths.count { $0 == "/t/p0" } == 2)
        #expect(try test.photo("p0").thumbnail.trouble != nil)
        await test.stop()
        gone.stop()
    }

    @Test("With a screen, pictures wait for a host that is gone")
    func waitedFor() async throws {
        let (test, host, controller) = try await listed(maximumAttempts: nil)
        host.stop()
        let thumbnails = Wish.Subject.everyPicture(test.cache.id, .thumbnail)
        let start = test.clock.now
        test.wishes.ask(for: thumbnails, importance: .near)
        try await test.letTimePass(for: controller) { test.clock.now - start > .seconds(600) }
        #expect(test.wishes.isStanding(thumbnails))
        await test.stop()
    }

    @Test("A command tries a given-up host again when the machine joins a network")
    func networkChanged() async throws {
        let network = CoalescingStream<NetworkPresence>()
        let (test, host, controller) = try await listed(maximumAttempts: 2, network: network)
        host.stop()
        let thumbnails = Wish.Subject.everyPicture(test.cache.id, .thumbnail)
        test.wishes.ask(for: thumbnails, importance: .near)
        try await test.letTimePass(for: controller) { !test.wishes.isStanding(thumbnails) }
        let attempts = test.beginnings(of: "/p/p0")
        let photo = try test.full("p0")
        test.wishes.ask(for: photo)
        try await test.letTimePass(for: controller) { !test.wishes.isStanding(photo) }
        #expect(test.beginnings(of: "/p/p0") == attempts)
        network.send(NetworkPresence(isThere: true))
        // The controller may see the wish before the network.
        try await test.letTimePass(for: controller) {
            if !test.wishes.isStanding(photo) { test.wishes.ask(for: photo) }
            return test.beginnings(of: "/p/p0") > attempts
        }
        await test.stop()
    }

    private func request(to host: String) throws -> any NetworkRequest {
        let test = try NetworkTest()
        let gallery = try test.context.caches.open(try Address("https://\(host)/index.xml"))
        return try #require(try RequestFactory([GalleryListRequest.self], test.context).request(for: .list(gallery.id)))
    }

    @Test("The half minute begins again after the machine was asleep")
    func asleep() throws {
        let gone = RequestError.noNetwork
        var lost = LostHosts()
        for time in [100, 101, 28_900] {
            lost.recordFailure(gone, of: "example.org", isAnswered: false, at: .seconds(time))
            #expect(!lost.contains("example.org"))
        }
        lost.recordFailure(gone, of: "example.org", isAnswered: false, at: .seconds(28_930))
        #expect(lost.contains("example.org"))
    }

    @Test("A host is lost after half a minute in which no request reached it, and found with the first sign")
    func patience() throws {
        let request = try request(to: "example.org")
        let host = request.candidate(.rest).host
        let gone = RequestError.transfer(.unreachable("example.org"))
        var lost = LostHosts()
        lost.recordFailure(gone, of: host, isAnswered: false, at: .seconds(100))
        lost.recordFailure(gone, of: host, isAnswered: false, at: .seconds(129))
        #expect(!lost.contains(host) && lost.error(of: request) == nil)
        // This host may not exist.
        #expect(!lost.isAwaited(host))
        lost.recordFailure(gone, of: host, isAnswered: false, at: .seconds(130))
        #expect(lost.contains(host) && lost.error(of: request) == gone)
        let other = try self.request(to: "example.com")
        #expect(!lost.contains(other.candidate(.rest).host) && lost.error(of: other) == nil)
        lost.recordSign(of: host)
        #expect(!lost.contains(host) && lost.error(of: request) == nil)
        #expect(!lost.isAwaited(host))
        lost.recordFailure(gone, of: host, isAnswered: false, at: .seconds(131))
        #expect(!lost.contains(host) && lost.isAwaited(host))
        lost.recordFailure(gone, of: host, isAnswered: false, at: .seconds(161))
        #expect(lost.contains(host) && !lost.isAwaited(host))
    }

    @Test("A host that is silent, breaks off or answers with an error is not lost, and local files never are")
    func otherFailures() {
        let gone = RequestError.transfer(.unreachable("example.org"))
        for error in [RequestError.transfer(.stalled), .transfer(.broken), .status(503, retryAfter: nil)] {
            var lost = LostHosts()
            for time in 0..<10 { lost.recordFailure(error, of: "host", isAnswered: false, at: .seconds(time * 60)) }
            #expect(!lost.contains("host"))
            // Such a failure also ends an outage.
            lost.recordFailure(gone, of: "host", isAnswered: false, at: .seconds(1_000))
            lost.recordFailure(error, of: "host", isAnswered: false, at: .seconds(1_020))
            lost.recordFailure(gone, of: "host", isAnswered: false, at: .seconds(1_040))
            #expect(!lost.contains("host"))
        }
        var lost = LostHosts()
        for time in 0..<10 { lost.recordFailure(gone, of: "", isAnswered: false, at: .seconds(time * 60)) }
        #expect(!lost.contains(""))
        // The host redirects to another one that is gone.
        for time in 0..<10 { lost.recordFailure(gone, of: "host", isAnswered: true, at: .seconds(time * 60)) }
        #expect(!lost.contains("host") && !lost.isAwaited("host"))
        // The network goes away after the beginning of an answer.
        lost.recordFailure(.noNetwork, of: "host", isAnswered: true, at: .seconds(1_000))
        #expect(lost.isAwaited("host"))
    }
}
