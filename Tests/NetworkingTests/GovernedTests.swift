import Model
import Session
import Synchronization
import TestSupport
import Testing
import Scheduling

@testable import Cache
@testable import Networking

/// The real governor, with a server whose pace the test controls.
@Suite struct GovernedTests {
    private let test: NetworkTest
    private let memory = WatchedGovernor.Memory()
    private let ids = (0..<200).map { "n\($0)" }
    /// Thumbnail requests that wait for their answers.
    private let queue = Queue()

    private final class Queue: Sendable {
        private let gates = Mutex<[Gate]>([])
        private let asked = Mutex(0)
        private let news = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))

        /// Waits until so many requests have come, without those that were cancelled. Returns how many wait.
        ///
        /// The second attempt for a hanging transfer may be cancelled before the server learns of it.
        func wait(for count: Int, in test: NetworkTest) async -> Int {
            let listening = Task { [news] in for await _ in test.log.changes { news.continuation.yield() } }
            defer { listening.cancel() }
            news.continuation.yield()
            for await _ in news.stream where asked.withLock({ $0 }) >= count - test.cancellations { break }
            return gates.withLock { $0.count }
        }

        func append() -> Gate {
            let gate = Gate()
            gates.withLock { $0.append(gate) }
            asked.withLock { $0 += 1 }
            news.continuation.yield()
            return gate
        }

        /// Answers all of them and returns their number.
        @discardableResult
        func letGo() -> Int {
            let all = gates.withLock { gates in
                defer { gates = [] }
                return gates
            }
            for gate in all { gate.open() }
            return all.count
        }
    }

    init() throws { test = try NetworkTest() }

    private func start() async throws -> NetworkController {
        test.putGallery(ids)
        let controller = test.start(test.makeController(governor: WatchedGovernor(AdaptiveGovernor(), memory)))
        try await test.refresh()
        return controller
    }

    private func wish(for ids: [String]) throws {
        test.wishes.state(
            try ids.map { Wish(try test.thumbnail($0), importance: .visible) }, by: test.wishes.makeWisher())
    }

    private func news(of transfer: [(time: Double, entry: WatchedGovernor.Memory.Entry)]) -> [TransferEvent] {
        transfer.compactMap { if case .news(let news) = $0.entry { news } else { nil } }
    }

    @Test("BEHAVIOURS 5.6: each transfer is timed and its bytes are counted")
    func timed() async throws {
        let controller = try await start()
        let gate = Gate()
        let body = NetworkTest.picture(String(repeating: "x", count: 9_996))
        test.put("/t/n0", [.hold(gate)] + .answer(200, body))
        test.clock.advance(to: .seconds(10))
        try wish(for: ["n0"])
        try await test.until { [test] in test.hasBegun("/t/n0") }
        await test.clock.pass(to: .seconds(12))
        gate.open()
        try await test.until { [test] in try test.photo("n0").thumbnail.isCurrent }
        await controller.finishTurn()
        // The first one is the list.
        let transfer = try #require(memory.all[2])
        guard case .started(let candidate) = transfer[0].entry else {
            Issue.record("it has no head")
            return
        }
        #expect(candidate.kind == .thumbnail && candidate.host == "http://127.0.0.1:\(test.server.port)")
        #expect(transfer.first?.time == 10 && transfer.last?.time == 12)
        let news = news(of: transfer)
        // The length comes with the first byte of the body and may be too late.
        let answers = news.compactMap {
            if case .answered(let wait, let length, _) = $0 { (wait, length) } else { nil }
        }
        #expect(answers.count == 1 && answers[0].0 > 0 && [10_000, nil].contains(answers[0].1))
        #expect(news.contains(.received(10_000)) && news.last == .ended(.completed))
        #expect(news.count { if case .ended = $0 { true } else { false } } == 1)
    }

    @Test(
        "BEHAVIOURS 5.6: each transfer’s end is reported once", arguments: ["404", "reset", "html", "withdrawn"])
    func everyEnd(end: String) async throws {
        let controller = try await start()
        let gate = Gate()
        defer { gate.open() }
        let steps: [ScriptedServer.Step] =
            switch end {
            case "404": .answer(404, "not here")
            case "reset":
                [.send("HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n"), .send(NetworkTest.picture("x")), .reset]
            case "html": .answer(200, "<html>", headers: ["Content-Type: text/html"])
            default: [.hold(gate)]
            }
        test.put("/t/n0", steps)
        let wisher = test.wishes.makeWisher()
        test.wishes.state([Wish(try test.thumbnail("n0"), importance: .visible)], by: wisher)
        if end == "withdrawn" {
            try await test.until { [test] in test.hasBegun("/t/n0") }
            test.wishes.withdraw(wisher)
        }
        try await test.until { [test] in
            end == "withdrawn" ? test.cancellations == 1 : try test.photo("n0").thumbnail.trouble != nil
        }
        try await test.letTimePass(for: controller) { [test] in test.activity.traffic?.running == 0 }
        let ends = news(of: try #require(memory.all[2])).compactMap {
            if case .ended(let end) = $0 { end } else { nil }
        }
        // An unwanted body is dropped after its head. The rest may have come by then.
        let possible: [TransferEvent.Ending] =
            switch end {
            case "withdrawn": [.cancelled]
            case "reset": [.failed]
            default: [.completed, .failed]
            }
        #expect(ends.count == 1 && ends.allSatisfy(possible.contains))
    }

    /// Thumbnails of 12 kB, each a second after its request. More of them at once would wait in the server's queue.
    @Test("BEHAVIOURS 5.6: the number of transfers follows their pace")
    func widthFollows() async throws {
        let controller = try await start()
        let body = NetworkTest.picture(String(repeating: "x", count: 12_000))
        test.answer.withLock { [queue] in
            $0 = { request in
                guard request.path.hasPrefix("/t/") else { return nil }
                return [.hold(queue.append())] + .answer(200, body)
            }
        }
        defer { queue.letGo() }
        try wish(for: ids)
        try await test.until { [test, ids] in ids.count { test.hasBegun("/t/\($0)") } >= 12 }
        var widths: [Int] = []
        // The list.
        var answered = 1
        for _ in 0..<12 {
            // All started requests have arrived; the first was the list.
            widths.append(await queue.wait(for: await controller.lastNumber - 1, in: test))
            await test.clock.pass(to: test.clock.now + .seconds(1))
            answered += queue.letGo()
            // The governor may interrupt some of them after the first answers, to start them again later.
            await memory.wait(forEnds: answered)
            await controller.finishTurn()
        }
        #expect(widths.first == 12, "\(widths)")
        #expect(try #require(widths.last) <= 4, "\(widths)")
        let slow = try #require(test.activity.traffic)
        // Everything under way came within a second.
        #expect((12_000.0...150_000).contains(try #require(slow.bandwidth)), "\(slow)")
    }

    @Test("BEHAVIOURS 5.6: an overloaded host gets fewer requests at once")
    func complaints() async throws {
        let controller = try await start()
        for id in ids { test.put("/t/\(id)", .answer(429)) }
        try wish(for: ids)
        try await test.letTimePass(for: controller) { [test] in
            test.activity.failures.count >= 8 && (test.activity.traffic?.limit ?? 64) <= 16
        }
        #expect(try #require(test.activity.traffic).limit >= 1)
    }

    /// The shown photo starts at once, and other transfers make way for it.
    @Test("BEHAVIOURS 5.2, 5.6: the shown photo waits for nothing that is not shown")
    func lookedAt() async throws {
        let controller = try await start()
        let gate = Gate()
        defer { gate.open() }
        for id in ids { test.put("/t/\(id)", [.hold(gate)]) }
        test.wishes.ask(for: .everyPicture(test.cache.id, .thumbnail), importance: .rest)
        try await test.until { [test, ids] in ids.count { test.hasBegun("/t/\($0)") } >= 8 }
        test.wishes.state([Wish(try test.full("n0"), importance: .lookedAt)], by: test.wishes.makeWisher())
        try await test.until { [test] in try test.photo("n0").original.isCurrent }
        #expect(!gate.isOpen)
        await controller.finishTurn()
    }
}
