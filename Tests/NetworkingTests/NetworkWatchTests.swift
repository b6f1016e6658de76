import Foundation
import Synchronization
import TestSupport
import Testing

@testable import Networking

/// Real links and addresses, in a network of the test's own.
@Suite(.ownThread, .enabled(if: OwnNetwork.isPossible), .unlessItHangs) struct NetworkWatchTests {
    private let network: OwnNetwork

    init() throws {
        network = try OwnNetwork()
        try network.ip("link", "set", "lo", "up")
        try network.ip("link", "add", "left", "type", "veth", "peer", "name", "right")
        try network.ip("link", "set", "right", "up")
    }

    /// Starts listening inside the test's network.
    private func watch(_ onLook: @escaping @Sendable () -> Void = {}) -> NetworkWatch {
        network.inside {
            let watch = NetworkWatch { [network] in
                defer { onLook() }
                return network.inside { NetworkAddress.all() }
            }
            _ = watch.changes
            return watch
        }
    }

    @Test("BEHAVIOURS 5.4: the kernel reports when the network is gone and when it is back")
    func comingAndGoing() async throws {
        let watch = watch()
        var news = watch.changes.makeAsyncIterator()
        try network.ip("address", "add", "10.1.0.1/24", "dev", "left")
        try network.ip("link", "set", "left", "up")
        #expect(await news.next() == NetworkPresence(isThere: true))
        // The other end of the cable.
        try network.ip("link", "set", "right", "down")
        #expect(await news.next() == NetworkPresence(isThere: false, lost: ["10.1.0.1"]))
        try network.ip("link", "set", "right", "up")
        #expect(await news.next() == NetworkPresence(isThere: true))
        try network.ip("address", "add", "10.2.0.1/24", "dev", "left")
        #expect(await news.next() == NetworkPresence(isThere: true))
        try network.ip("address", "del", "10.1.0.1/24", "dev", "left")
        #expect(await news.next() == NetworkPresence(isThere: true, lost: ["10.1.0.1"]))
        try network.ip("link", "delete", "left")
        #expect(await news.next() == NetworkPresence(isThere: false, lost: ["10.1.0.1", "10.2.0.1"]))
    }

    private final class Notes: Sendable {
        let looks = Mutex(0)
        let heard = Mutex<[Bool]>([])
    }

    @Test func changesWithoutANewAddressAreIgnored() async throws {
        let notes = Notes()
        let steps = AsyncStream<Void>.makeStream()
        let watch = watch {
            notes.looks.withLock { $0 += 1 }
            steps.continuation.yield()
        }
        let listener = Task {
            for await presence in watch.changes {
                notes.heard.withLock { $0.append(presence.isThere) }
                steps.continuation.yield()
            }
        }
        func until(_ condition: () -> Bool) async {
            if condition() { return }
            for await _ in steps.stream where condition() { return }
        }
        try network.ip("address", "add", "2001:db8::1/64", "dev", "left", "nodad")
        try network.ip("link", "set", "left", "up")
        await until { notes.heard.withLock { $0 == [true] } }
        let before = notes.looks.withLock { $0 }
        try network.ip("link", "set", "left", "alias", "another-name")
        await until { notes.looks.withLock { $0 > before } }
        try network.ip("link", "set", "left", "down")
        await until { notes.heard.withLock { $0.last == false } }
        #expect(notes.heard.withLock { $0 } == [true, false])
        listener.cancel()
        await listener.value
    }

    @Test func aReleasedWatchStopsListening() async throws {
        final class Witness: Sendable {
            let onEnd: Gate
            init(_ gate: Gate) { onEnd = gate }
            deinit { onEnd.open() }
        }
        let gone = Gate()
        do {
            let witness = Witness(gone)
            let watch = watch { _ = witness }
            withExtendedLifetime(watch) {}
        }
        #expect(gone.wait())
    }
}

@Suite(.ownThread, .unlessItHangs) struct NoNetworkWatchTests {
    @Test func anUnusedWatchDoesNotListen() {
        let watch = NetworkWatch(
            open: {
                Issue.record("nobody has a reason to listen")
                return -1
            },
            addresses: { [] })
        withExtendedLifetime(watch) {}
    }

    @Test func aRefusedSocketReportsNothing() async {
        let watch = NetworkWatch(open: { -1 }) {
            Issue.record("nobody has a reason to look")
            return []
        }
        let listener = Task { for await _ in watch.changes { Issue.record("this was not heard from the kernel") } }
        listener.cancel()
        await listener.value
    }
}
