import Model
import Session
import Concurrency
import Synchronization
import TestSupport
import Testing

@testable import Cache
@testable import Networking

/// Waits for retries, and the events that shorten them.
@Suite struct WakingTests {
    private let test: NetworkTest
    private let controller: NetworkController
    private let other: ScriptedServer
    private let network = CoalescingStream<NetworkPresence>()
    private let wisher: Wishes.Wisher
    /// Waits at the gallery's host, at another host, and for a stated time.
    private static let (here, there, told) = (["a", "b", "c", "d"], ["x", "y"], ["t"])

    init() throws {
        test = try NetworkTest()
        other = try ScriptedServer { _ in .answer(500) }
        // Each call returns the next of five evenly spaced values.
        let count = Mutex(0)
        let chance: @Sendable () -> Double = {
            count.withLock { count in
                count = (count + 1) % 5
                return 0.1 + 0.2 * Double(count)
            }
        }
        controller = test.makeController(width: 8, chance: chance, network: network)
        wisher = test.wishes.makeWisher()
    }

    /// Advances until all of them have failed twice and wait for long.
    private func putAllOff(retryAfter: String = "5000") async throws {
        let all = (Self.here + Self.there + Self.told + ["s"]).map { id in
            let place = Self.there.contains(id) ? other.url("/t/\(id)") : "t/\(id)"
            return """
                <photo id="\(id)" name="\(id)" date="2006-01-01T00:00:00Z">
                <image kind="image" srcURL="p/\(id)"/><image kind="thumbnail" srcURL="\(place)"/></photo>
                """
        }
        test.put("/index.xml", .answer(200, "<album>\(all.joined())</album>"))
        for id in Self.here + Self.told { test.put("/t/\(id)", .answer(500)) }
        test.put("/t/s", .answer(200, NetworkTest.picture("s")))
        test.start(controller)
        try await test.refresh()
        try state(Self.here + Self.there + Self.told)
        try await untilWaiting(attempts: 1)
        for id in Self.told { test.put("/t/\(id)", .answer(503, headers: ["Retry-After: \(retryAfter)"])) }
        test.clock.advance(to: .seconds(1))
        try await untilWaiting(attempts: 2)
    }

    private func state(_ ids: [String]) throws {
        test.wishes.state(try ids.map { Wish(try test.thumbnail($0), importance: .visible) }, by: wisher)
    }

    private func untilWaiting(attempts: Int) async throws {
        let count = Self.here.count + Self.there.count + Self.told.count
        try await test.until { [test] in
            test.activity.failures.count { $0.attempts == attempts } == count && !test.clock.alarms.isEmpty
        }
        await controller.finishTurn()
    }

    /// Lets enough time pass that failures may be woken again.
    private func passQuietTime() {
        test.clock.advance(to: test.clock.now + .seconds(1))
    }

    /// Returns when a wait is shorter than this.
    private func untilWoken(within time: Duration) async throws {
        try await test.until { [test] in test.clock.alarms.contains { $0 <= test.clock.now + time } }
        await controller.finishTurn()
    }

    /// The remaining waits, by id.
    private func waits() async throws -> [String: Duration] {
        var waits: [String: Duration] = [:]
        for (subject, wait) in await controller.waiting {
            guard case .picture(_, let key, _) = subject else { continue }
            let id = try #require(try test.cache.read { try $0.photo(key) }).galleryID
            waits[id] = try #require(wait.until) - test.clock.now
        }
        return waits
    }

    @Test("BEHAVIOURS 5.4: a success wakes all waits for the same host and no others")
    func success() async throws {
        try await putAllOff()
        passQuietTime()
        let before = try await waits()
        #expect(before.count == 7 && before["t"] == .seconds(4_999))
        #expect(before.values.allSatisfy { $0 > .seconds(2) })
        try state(Self.here + Self.there + Self.told + ["s"])
        try await untilWoken(within: .seconds(1))
        #expect(try test.photo("s").thumbnail.isCurrent)
        let after = try await waits()
        for id in Self.here { #expect(try #require(after[id]) <= .seconds(1)) }
        #expect(Set(Self.here.map { after[$0] }).count > 1, "not all at once")
        for id in Self.there + Self.told { #expect(after[id] == before[id]) }
        // The retries succeed.
        for id in Self.here { test.put("/t/\(id)", .answer(200, NetworkTest.picture(id))) }
        test.clock.advance(to: test.clock.now + .seconds(1))
        try await test.until { [test] in try Self.here.allSatisfy { try test.photo($0).thumbnail.isCurrent } }
        #expect(other.requests.count == 2 * Self.there.count && test.paths.count { $0 == "/t/t" } == 2)
    }

    /// Advances until the server has been unreachable twice for both of two thumbnails. Then brings the server back.
    private func passOutage(then answers: [ScriptedServer.Step]) async throws {
        test.putGallery(["a", "b"])
        test.start(controller)
        try await test.refresh()
        test.server.interrupt()
        try state(["a", "b"])
        try await test.letTimePass(for: controller) { [test] in
            test.activity.failures.count { $0.attempts >= 2 } == 2
        }
        for id in ["a", "b"] { test.put("/t/\(id)", answers) }
        test.server.goOn()
    }

    /// Whether a thumbnail's next attempt is due within a second. The time of day does not change during a test.
    private static func isWoken(in test: NetworkTest) throws -> Bool {
        try ["a", "b"].contains { id in
            let next = test.activity.failureReport(of: try test.thumbnail(id))?.next
            return next.map { $0.milliseconds <= 43_000 } ?? false
        }
    }

    @Test("BEHAVIOURS 5.4: the beginning of an answer after an outage wakes the waits for the host", .unlessItHangs)
    func beginningOfAnswer() async throws {
        let gate = Gate()
        defer { gate.open() }
        try await passOutage(then: [.send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n"), .hold(gate)])
        try await test.letTimePass(for: controller) { [test] in test.paths.contains { $0.hasPrefix("/t/") } }
        // The first retry does not end, and no more time passes.
        try await test.until { [test] in try Self.isWoken(in: test) }
        #expect(test.paths.count { $0.hasPrefix("/t/") } == 1)
    }

    @Test("BEHAVIOURS 5.4: an error as the answer after an outage wakes the waits for the host", .unlessItHangs)
    func errorAfterOutage() async throws {
        try await passOutage(then: .answer(500))
        try await test.letTimePass(for: controller) { [test] in test.paths.contains { $0.hasPrefix("/t/") } }
        // No time passes while the answer arrives.
        try await test.until { [test] in try Self.isWoken(in: test) }
        try await test.letTimePass(for: controller) { [test] in test.paths.count { $0.hasPrefix("/t/") } > 1 }
    }

    @Test("BEHAVIOURS 5.4: the network’s return ends all waits within three to four seconds, spread out")
    func network() async throws {
        try await putAllOff()
        let before = try await waits()
        network.send(NetworkPresence(isThere: false))
        network.send(NetworkPresence(isThere: true))
        try await untilWoken(within: .seconds(4))
        let after = try await waits()
        for id in Self.here + Self.there { #expect((3.0...4.0).contains(try #require(after[id]).seconds)) }
        #expect(Set((Self.here + Self.there).map { after[$0] }).count > 1, "not all at once")
        #expect(after["t"] == before["t"], "who said how long is left alone for so long")
    }

    @Test("The list of failures shows that a retry comes earlier than planned", .unlessItHangs)
    func shownTimes() async throws {
        try await putAllOff()
        network.send(NetworkPresence(isThere: true))
        // The time of day does not change during the test.
        try await test.until { [test] in
            try (Self.here + Self.there).allSatisfy { id in
                let next = test.activity.failureReport(of: try test.thumbnail(id))?.next
                return next.map { (45_000...46_000).contains($0.milliseconds) } ?? false
            }
        }
    }

    @Test func aLostNetworkWakesNoRequest() async throws {
        try await putAllOff()
        let before = try await waits()
        network.send(NetworkPresence(isThere: false))
        network.finish()
        await controller.finishTurn()
        #expect(try await waits() == before)
    }

    /// Drops all wishes of the screen. Returns when the controller has dropped them, too.
    ///
    /// Before, it waits until the row shows the failure. Without it, the row might have changed meanwhile, and the
    /// controller would not wait.
    private func leave() async throws {
        try await test.until { [test] in try test.photo("t").thumbnail.trouble != nil }
        try state([])
        try await test.until { [test] in test.activity.failures.allSatisfy { $0.next == nil } }
        await controller.finishTurn()
    }

    @Test("A thumbnail that leaves the screen and returns waits for the time that its server asked for")
    func returning() async throws {
        try await putAllOff()
        let before = try await waits()
        try await leave()
        #expect(await controller.waiting.isEmpty)
        try state(Self.told + ["s"])
        try await test.until { [test] in try test.photo("s").thumbnail.isCurrent }
        await controller.finishTurn()
        #expect(try await waits() == ["t": try #require(before["t"])])
        test.put("/t/t", .answer(200, NetworkTest.picture("t")))
        #expect(test.paths.count { $0 == "/t/t" } == 2)
        test.clock.advance(to: .seconds(5_001))
        try await test.until { [test] in try test.photo("t").thumbnail.isCurrent }
    }

    @Test("A retry by the user ends the wait of a thumbnail that has left the screen", arguments: [false, true])
    func retriedMeanwhile(isForAll: Bool) async throws {
        try await putAllOff()
        try await leave()
        passQuietTime()
        test.put("/t/t", .answer(200, NetworkTest.picture("t")))
        if isForAll { test.wishes.retryAll() } else { test.wishes.retry([try test.thumbnail("t")]) }
        try state(Self.told)
        try await test.until { [test] in try test.photo("t").thumbnail.isCurrent }
    }

    /// Thumbnails stand for photos here. Before, they were fetched in advance.
    @Test("A photo that is opened does not wait for its retry", .unlessItHangs, arguments: ["t", "a"])
    func opened(id: String) async throws {
        try await putAllOff()
        let before = try await waits()
        test.put("/t/\(id)", .answer(200, NetworkTest.picture(id)))
        test.wishes.state([Wish(try test.thumbnail(id), importance: .lookedAt)], by: test.wishes.makeWisher())
        // At least a second lies between two attempts.
        try await untilWoken(within: .seconds(1))
        // The list of failures does not show the former time any more.
        try await test.until { [test] in
            let next = test.activity.failureReport(of: try test.thumbnail(id))?.next
            return next.map { $0.milliseconds <= 43_000 } ?? false
        }
        let after = try await waits()
        #expect(after[id] == .seconds(1) && after.filter { $0.key != id } == before.filter { $0.key != id })
        #expect(try !test.photo(id).thumbnail.isCurrent)
        passQuietTime()
        try await test.until { [test] in try test.photo(id).thumbnail.isCurrent }
    }

    /// `Retry-After: 0` does not ask for a long wait.
    @Test("BEHAVIOURS 5.4: a success ends waits with a shorter Retry-After too", arguments: ["0", "3"])
    func askedForLess(retryAfter: String) async throws {
        try await putAllOff(retryAfter: retryAfter)
        passQuietTime()
        #expect(try #require(try await waits()["t"]) > .seconds(4))
        try state(Self.here + Self.there + Self.told + ["s"])
        try await untilWoken(within: .seconds(1))
        #expect(try test.photo("s").thumbnail.isCurrent)
        let wait = try #require(try await waits()["t"])
        #expect(wait <= .seconds(max(1, Int(retryAfter)! - 1)) && wait >= .seconds(retryAfter == "3" ? 2 : 0))
    }

    /// The address fails and not the host. Otherwise each other success would retry it.
    @Test func repeatedFailuresAreWokenLessOften() async throws {
        let others = (0..<64).map { "s\($0)" }
        test.putGallery(["a"] + others)
        test.put("/t/a", .answer(500))
        test.start(controller)
        try await test.refresh()
        let all = try (["a"] + others).map { try test.thumbnail($0) }
        test.wishes.state([Wish(all[0], importance: .visible)], by: wisher)
        // One of the others succeeds each quarter of a second.
        for count in 1...others.count {
            try await test.until { [test] in
                test.activity.failures.contains { $0.subject == all[0] } && !test.clock.alarms.isEmpty
            }
            test.clock.advance(to: test.clock.now + .milliseconds(250))
            test.wishes.state(all.prefix(count + 1).map { Wish($0, importance: .visible) }, by: wisher)
            try await test.until { [test] in try test.photo(others[count - 1]).thumbnail.isCurrent }
            await controller.finishTurn()
        }
        // In sixteen seconds: at once, after part of a second, then after one, two, four and eight seconds.
        #expect((3...6).contains(test.paths.count { $0 == "/t/a" }))
    }
}
