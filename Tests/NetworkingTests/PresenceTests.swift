import Model
import Session
import Concurrency
import TestSupport
import Testing

@testable import Cache
@testable import Networking

/// The presence of a network as it is reported, and the log of transfers.
@Suite struct PresenceTests {
    private let test: NetworkTest

    init() throws { test = try NetworkTest() }

    @Test("The presence of a network follows the kernel, without loopback")
    func networkPresence() async throws {
        let network = CoalescingStream<NetworkPresence>()
        let controller = test.start(test.makeController(network: network))
        test.wishes.pause()
        let watch = test.activity.watchTraffic()
        network.send(NetworkPresence(isThere: false))
        try await test.until { [test] in test.activity.traffic?.isOnNetwork == false }
        // Local files need no network.
        test.wishes.ask(for: test.list)
        try await test.until { [test] in test.activity.traffic?.isOnNetwork == true }
        test.wishes.stop(test.list)
        try await test.until { [test] in test.activity.traffic?.isOnNetwork == false }
        network.send(NetworkPresence(isThere: true))
        try await test.until { [test] in test.activity.traffic?.isOnNetwork == true }
        await controller.finishTurn()
        withExtendedLifetime(watch) {}
    }

    @Test("Offline, a local folder is read, and a request for a server's gallery waits without a wake-up")
    func offlineReadsLocalFolders() async throws {
        let test = try NetworkTest(isOffline: true)
        test.folder.write("album/one.jpg", NetworkTest.picture("one"))
        let album = try test.context.caches.open(Address(filePath: test.folder.path("album")))
        let controller = test.start()
        test.wishes.ask(for: test.list)
        test.wishes.ask(for: .list(album.id))
        try await test.until { [test] in !test.wishes.isStanding(.list(album.id)) }
        #expect(try album.read { try $0.photo(galleryID: "one.jpg") } != nil)
        let picture = Wish.Subject.picture(
            album.id, try #require(try album.read { try $0.photo(galleryID: "one.jpg") }).key, .original)
        test.wishes.ask(for: picture)
        try await test.until { [test] in !test.wishes.isStanding(picture) }
        await controller.finishTurn()
        #expect(try album.read { try $0.photo(galleryID: "one.jpg") }?.original.isCurrent == true)
        #expect(test.wishes.isStanding(test.list) && test.server.requests.isEmpty && test.clock.alarms.isEmpty)
    }

    @Test(
        "BEHAVIOURS 5.4: a transfer from an address that the machine has lost starts again", .unlessItHangs,
        arguments: [false, true])
    func lostAddress(isSameAfterSleep: Bool) async throws {
        let network = CoalescingStream<NetworkPresence>()
        let gate = Gate()
        defer { gate.open() }
        test.putGallery(["a"])
        let half = NetworkTest.picture("0123456")
        test.put("/p/a", [.send("HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\n"), .send(half), .hold(gate)])
        let controller = test.start(test.makeController(network: network))
        try await test.refresh()
        let photo = try test.full("a")
        test.wishes.state([Wish(photo, importance: .lookedAt)], by: test.wishes.makeWisher())
        try await test.until { [test] in test.activity.progress(of: photo) == Progress(done: 11, total: 20) }
        test.put("/p/a", .answer(200, NetworkTest.picture("photo a")))
        if isSameAfterSleep {
            network.send(NetworkPresence(isThere: false, lost: ["127.0.0.1"]))
            while await controller.attachment.isThere { await Task.yield() }
            test.clock.advance(to: test.clock.now + .seconds(3_600))
        }
        network.send(NetworkPresence(isThere: true, lost: isSameAfterSleep ? [] : ["127.0.0.1"]))
        try await test.until { [test] in try test.photo("a").original.isCurrent }
        await controller.finishTurn()
        #expect(test.beginnings(of: "/p/a") == 2 && test.activity.failureCount == 0)
        #expect(test.server.requests.map(\.connection) == [1, 1, 2])
    }

    @Test("Connections are useless after a long absence from the network, even if the former address returns")
    func absence() {
        var attachment = NetworkAttachment()
        let gone = NetworkPresence(isThere: false, lost: ["10.0.0.2"])
        #expect(attachment.change(to: gone, at: .seconds(10)) == [])
        #expect(attachment.change(to: NetworkPresence(isThere: true), at: .seconds(15)) == [])
        #expect(attachment.change(to: gone, at: .seconds(20)) == [])
        // Another message of the kernel does not begin another absence.
        #expect(attachment.change(to: NetworkPresence(isThere: false), at: .seconds(45)) == [])
        let back = NetworkPresence(isThere: true, lost: ["10.0.0.3"])
        #expect(attachment.change(to: back, at: .seconds(3_600)) == ["10.0.0.2", "10.0.0.3"])
        #expect(attachment.change(to: back, at: .seconds(3_700)) == ["10.0.0.3"])
    }

    @Test("The log names each successful transfer with its bytes")
    func successesAreLogged() async throws {
        test.putGallery(["a"])
        let controller = test.start()
        try await test.refresh()
        let bytes = NetworkTest.picture("thumbnail a").count
        let wisher = test.wishes.makeWisher()
        test.wishes.state([Wish(try test.thumbnail("a"), importance: .visible)], by: wisher)
        try await test.until { [test] in
            test.log.entries.contains {
                $0.subsystem == .network && $0.level == .info
                    && $0.message == "\(test.server.url("/t/a")): \(bytes) bytes received in 0 ms"
            }
        }
        await controller.finishTurn()
        #expect(test.log.entries.contains { $0.message.hasPrefix("\(test.server.url("/index.xml")): ") })
    }
}
