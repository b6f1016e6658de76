import Model
import Session
import Synchronization
import TestSupport
import Testing
import Scheduling

@testable import Cache
@testable import Networking

/// The last thumbnail, whose answer stops in the middle, under the real governor.
@Suite struct HangingTests {
    private let test: NetworkTest
    private let memory = WatchedGovernor.Memory()
    private let gates = Gates()
    private static let body = NetworkTest.picture(String(repeating: "x", count: 9_996))

    /// What the first answer waits for in its middle, and what the second one does. They open with the test's end.
    private final class Gates: Sendable {
        let first = Gate()
        let second = Gate()

        deinit {
            first.open()
            second.open()
        }
    }

    /// What becomes of the second request for it.
    enum Second: CaseIterable, Sendable { case isAnswered, hangs, fails, isRefused, isText }

    init() throws { test = try NetworkTest() }

    /// Answers the first request for it by half, and then waits.
    private func answer(_ second: Second) {
        let (gate, never) = (gates.first, gates.second)
        let half = Array(Self.body.prefix(5_000))
        let hanging: [ScriptedServer.Step] = [
            .send("HTTP/1.1 200 OK\r\nContent-Length: \(Self.body.count)\r\n\r\n"), .send(half), .hold(gate),
            .send(Array(Self.body.dropFirst(5_000))),
        ]
        test.answer.withLock {
            $0 = { [server = test.server] request in
                guard request.path == "/t/n1" else { return nil }
                // It is among them itself.
                if server.requests.count(where: { $0.path == request.path }) == 1 { return hanging }
                return switch second {
                case .isAnswered: .answer(200, Self.body)
                case .hangs: [.hold(never), .reset]
                case .fails: Array(hanging.prefix(2)) + [.reset]
                case .isRefused: .answer(503)
                case .isText: .answer(200, "<html>", headers: ["Content-Type: text/html"])
                }
            }
        }
    }

    /// Begins, and fetches the list.
    private func start(
        _ second: Second, under governor: any Governor = AdaptiveGovernor()
    ) async throws -> NetworkController {
        test.putGallery(["n0", "n1"])
        answer(second)
        let controller = test.start(test.makeController(governor: WatchedGovernor(governor, memory)))
        try await test.refresh()
        return controller
    }

    /// Of how many attempts the governor has been told something.
    private func count(_ isMeant: (TransferNews) -> Bool) -> Int {
        memory.all.values.count { entries in
            entries.contains { if case .news(let news) = $0.entry { isMeant(news) } else { false } }
        }
    }

    private var requests: Int { test.paths.count { $0 == "/t/n1" } }

    private func wish(for id: String, by wisher: Wishes.Wisher) throws {
        test.wishes.state([Wish(try test.thumbnail(id), importance: .visible)], by: wisher)
    }

    private var ended: Int { count { if case .ended = $0 { true } else { false } } }
    private var answered: Int { count { if case .answered = $0 { true } else { false } } }

    /// Lets the virtual time pass when so many have been answered, until it is asked for once more.
    private func waitForSecond(after count: Int) async {
        while answered < count { await Task.yield() }
        while test.beginnings(of: "/t/n1") < 2 { await test.clock.advanceToNextAlarm() }
        while requests < 2 { await Task.yield() }
    }

    @Test(
        "BEHAVIOURS 5.6: the last one that hangs is asked for once more, and what comes first counts",
        arguments: Second.allCases)
    func theLast(second: Second) async throws {
        let controller = try await start(second)
        // One after the other: it is the network that takes time, and not the clock that passes here.
        try wish(for: "n0", by: test.wishes.makeWisher())
        try await test.until { [test] in try test.photo("n0").thumbnail.isCurrent }
        try wish(for: "n1", by: test.wishes.makeWisher())
        // The list, the other one, and this one twice.
        await waitForSecond(after: 3)
        if ![.isAnswered, .hangs].contains(second) {
            while ended < 3 { await Task.yield() }
        }
        if second != .isAnswered { gates.first.open() }
        try await test.until { [test] in try test.photo("n1").thumbnail.isCurrent }
        while ended < 4 { await Task.yield() }
        while await !controller.isIdle { await Task.yield() }
        #expect(requests == 2 && memory.all.count == 4)
        #expect(test.activity.failures.isEmpty)
    }

    /// Nothing is asked for that nobody wants any more, and what is let go is let go twice.
    @Test("BEHAVIOURS 5.6: what is asked for twice can be cancelled")
    func cancelled() async throws {
        let controller = try await start(.hangs)
        let wisher = test.wishes.makeWisher()
        try wish(for: "n1", by: wisher)
        await waitForSecond(after: 2)
        test.wishes.withdraw(wisher)
        while await !controller.isIdle { await Task.yield() }
        #expect(ended == 3 && memory.all.count == 3)
        try await test.until { [test] in test.cancellations == 2 }
    }

    /// It hangs, but others wait; and then nobody wants any of them any more. What is begun for nobody would never end here.
    @Test("BEHAVIOURS 5.6: what has just been let go is not asked for once more")
    func letGo() async throws {
        let controller = try await start(.hangs, under: FixedGovernor(width: 4))
        let wisher = test.wishes.makeWisher()
        try wish(for: "n1", by: wisher)
        while answered < 2 { await Task.yield() }
        await controller.finishTurn()
        memory.say(hangs: 2)
        test.wishes.withdraw(wisher)
        while await !controller.isIdle { await Task.yield() }
        #expect(ended == memory.all.count)
    }
}
