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
