import Model
import Session
import Synchronization
import TestSupport
import Testing
import Scheduling

@testable import Cache
@testable import Networking

/// A last thumbnail that hangs in the middle, under the real governor.
@Suite struct HangingTests {
    private let test: NetworkTest
    private let memory = WatchedGovernor.Memory()
    private let gates = Gates()
    private static let body = NetworkTest.picture(String(repeating: "x", count: 9_996))

    /// The gates of the first and second answer. They open at the end of the test.
    private final class Gates: Sendable {
        let first = Gate()
        let second = Gate()

        deinit {
            first.open()
            second.open()
        }
    }

    /// The fate of the second request.
    enum Second: CaseIterable, Sendable { case isAnswered, hangs, fails, isRefused, isText }

    init() throws { test = try NetworkTest() }

    /// Answers the first request by half, and then waits.
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
                // The count includes this request.
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

    /// Starts the controller and fetches the list.
    private func start(
        _ second: Second, under governor: any Governor = AdaptiveGovernor()
    ) async throws -> NetworkController {
        test.putGallery(["n0", "n1"])
        answer(second)
        let controller = test.start(test.makeController(governor: WatchedGovernor(governor, memory)))
        try await test.refresh()
        return controller
    }

    /// Counts the attempts for which the governor got a certain event.
    private func count(_ isMeant: (TransferEvent) -> Bool) -> Int {
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

    /// After so many answers, lets virtual time pass until the request is duplicated.
    private func waitForSecond(after count: Int) async {
        while answered < count { await Task.yield() }
        while test.beginnings(of: "/t/n1") < 2 { await test.clock.advanceToNextAlarm() }
        while requests < 2 { await Task.yield() }
    }

    @Test(
        "BEHAVIOURS 5.6: the last hanging transfer is duplicated, and the first to finish counts",
        arguments: Second.allCases)
    func theLast(second: Second) async throws {
        let controller = try await start(second)
        // One after the other, since the network's time is not on this clock.
        try wish(for: "n0", by: test.wishes.makeWisher())
        try await test.until { [test] in try test.photo("n0").thumbnail.isCurrent }
        try wish(for: "n1", by: test.wishes.makeWisher())
        // The list, the other thumbnail, and this one twice.
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

    /// Both attempts are cancelled, and nothing unwanted is requested.
    @Test("BEHAVIOURS 5.6: a duplicated request can be cancelled")
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

    /// It hangs while others wait, and then all are withdrawn. A transfer started for no wish would never end here.
    @Test("BEHAVIOURS 5.6: a cancelled request is not duplicated")
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
