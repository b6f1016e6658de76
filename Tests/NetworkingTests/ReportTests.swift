import Model
import Session
import Numbers
import Synchronization
import TestSupport
import Testing
import Scheduling

@testable import Cache
@testable import Networking

/// Reports of transfers and failures, and the user's actions on them, under the real governor.
@Suite struct ReportTests {
    private let test: NetworkTest
    private let controller: NetworkController
    private let ids = (0..<30).map { "n\($0)" }

    init() throws {
        test = try NetworkTest()
        controller = test.makeController(governor: AdaptiveGovernor())
    }

    private func begin() async throws {
        test.putGallery(ids)
        test.start(controller)
        try await test.refresh()
        try await idle()
    }

    /// Lets time pass until nothing runs and nothing waits.
    private func idle() async throws {
        try await test.letTimePass(for: controller) { [test] in
            test.activity.traffic?.running == 0 && test.clock.alarms.isEmpty && !test.activity.isBusy
        }
        await controller.finishTurn()
    }

    private func wish(for subjects: [Wish.Subject], _ importance: Importance = .visible) -> Wishes.Wisher {
        let wisher = test.wishes.makeWisher()
        test.wishes.state(subjects.map { Wish($0, importance: importance) }, by: wisher)
        return wisher
    }

    @Test("BEHAVIOURS 2.1: twenty quick refreshes are one request, under the real governor too")
    func refreshes() async throws {
        try await begin()
        let gate = Gate()
        test.put("/index.xml", [.hold(gate)] + .answer(200, "<album/>"))
        for _ in 0..<20 { test.wishes.ask(for: test.list) }
        try await test.until { [test] in try test.status.isRunning && test.beginnings(of: "/index.xml") == 2 }
        for _ in 0..<20 { test.wishes.ask(for: test.list) }
        gate.open()
        try await test.until { [test] in !test.wishes.isStanding(test.list) }
        try await idle()
        #expect(test.paths == ["/index.xml", "/index.xml"] && test.activity.traffic?.running == 0)
    }

    @Test("BEHAVIOURS 2.3, 5.7: a stopped update changes no row and leaves nothing running")
    func stopped() async throws {
        try await begin()
        let before = try test.cache.read { try $0.gallery() }
        let gate = Gate()
        defer { gate.open() }
        let beginning = "<album><photo id=\"new\" name=\"New\" date=\"2006-01-01T00:00:00Z\">"
        test.put("/index.xml", [.send("HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\n" + beginning), .hold(gate)])
        test.wishes.ask(for: test.list)
        try await test.until { [test] in
            guard case .updating(.getting(let progress, _)) = try test.status.state else { return false }
            return progress.done > 0
        }
        test.wishes.stop(test.list)
        try await test.until { [test] in try test.status.state == .cancelled }
        try await idle()
        #expect(try test.cache.read { try $0.gallery() } == before)
        #expect(test.activity.traffic?.running == 0 && test.activity.failures.isEmpty)
        #expect(test.folder.entries("cache/galleries/\(test.cache.id)/partial").isEmpty)
    }

    /// During a pause the due retry does not start.
    @Test("BEHAVIOURS 2.3: an update can be stopped while its retry is held back")
    func stoppedWhileHeldBack() async throws {
        try await begin()
        test.server.interrupt()
        let wisher = wish(for: try ids.prefix(4).map { try test.thumbnail($0) })
        test.wishes.ask(for: test.list)
        // Three failures are enough to mark the host as unreachable.
        try await test.until { [test] in
            guard case .updating(.waiting) = try test.status.state else { return false }
            return test.activity.failureCount == 5
        }
        let watch = test.activity.watchTraffic()
        test.wishes.pause()
        try await test.until { [test] in test.activity.traffic?.isPaused == true }
        await test.clock.pass(to: try #require(await controller.waiting[test.list]?.until))
        await controller.finishTurn()
        #expect(await controller.isQueued(test.list) && test.activity.traffic?.quality == nil)
        #expect(test.activity.traffic?.unreachable == [String(test.server.url("").dropFirst("http://".count))])
        let listed = try #require(test.activity.traffic?.transfers.first { $0.subject == test.list })
        #expect(listed.stage == .heldBack(Failure("\(listed.host) cannot be reached", remedy: .time), attempts: 1))
        #expect(listed.host == test.server.url("").dropFirst("http://".count))
        test.wishes.stop(test.list)
        try await test.until { [test] in try test.status.state == .cancelled }
        test.wishes.withdraw(wisher)
        try await idle()
        withExtendedLifetime(watch) {}
    }

    /// Bulk fetches queue subjects after the hosts were checked, so they must be checked again.
    @Test(.unlessItHangs) func queuedRequestsForAnUnreachableHostAreRetriedLater() async throws {
        try await begin()
        test.server.interrupt()
        let wisher = wish(for: try ids.prefix(4).map { try test.thumbnail($0) })
        try await test.until { [test] in test.activity.failureCount == 4 }
        test.wishes.withdraw(wisher)
        try await idle()
        #expect(test.activity.traffic?.quality == nil)
        let watch = test.activity.watchTraffic()
        test.wishes.ask(for: .everyPicture(test.cache.id, .thumbnail))
        try await test.until { [test] in !test.clock.alarms.isEmpty }
        // The reason for their wait is shown though they were never tried.
        try await test.until { [test] in test.activity.traffic?.transfers.isEmpty == false }
        let transfers = try #require(test.activity.traffic?.transfers)
        let isKnown = { (transfer: TransferReport) in
            transfer.stage == .heldBack(Failure("\(transfer.host) cannot be reached", remedy: .time), attempts: 0)
        }
        #expect(transfers.contains(where: isKnown) && !transfers.contains { $0.stage == .queued })
        withExtendedLifetime(watch) {}
        test.server.goOn()
        try await test.letTimePass(for: controller) { [test, ids] in
            try ids.allSatisfy { try test.photo($0).thumbnail.isCurrent }
        }
        try await idle()
    }

    @Test func oneLastReportFollowsTheEnd() async throws {
        try await begin()
        let reports = Mutex<[TrafficReport]>([])
        let listening = Task { [test] in
            for await change in test.activity.changes() where change.hasTraffic {
                if let report = test.activity.traffic { reports.withLock { $0.append(report) } }
            }
        }
        defer { listening.cancel() }
        let received = try #require(test.activity.traffic).received
        let wisher = wish(for: try ids.map { try test.thumbnail($0) })
        try await test.until { [test, ids] in try ids.allSatisfy { try test.photo($0).thumbnail.isCurrent } }
        try await idle()
        let lines = test.log.entries.filter { $0.subsystem == .networkDetail && $0.message.contains(" running, ") }
        #expect(lines.last?.message.contains(": 0 running, 0 queued") == true)
        let last = try #require(test.activity.traffic)
        #expect(last.running == 0 && last.queued == 0 && last.waiting == 0 && last.transfers.isEmpty)
        // The bytes of all bodies, and no more.
        let bytes = ids.reduce(0) { $0 + NetworkTest.picture("thumbnail \($1)").count }
        #expect(last.received == received + ByteCount(bytes))
        let count = test.log.entries.count
        // Nothing runs, so nothing is reported, however much time passes.
        test.clock.advance(to: test.clock.now + .seconds(86_400))
        await controller.finishTurn()
        #expect(test.log.entries.count == count && test.clock.alarms.isEmpty)
        test.wishes.withdraw(wisher)
        await controller.finishTurn()
        #expect(test.activity.traffic == last)
    }

    @Test func transfersAreListedWhileAScreenShowsThem() async throws {
        try await begin()
        let gate = Gate()
        for id in ids { test.put("/t/\(id)", [.hold(gate)] + .answer(200, NetworkTest.picture(id))) }
        let wisher = wish(for: try ids.map { try test.thumbnail($0) })
        try await test.until { [test] in (test.activity.traffic?.running ?? 0) > 0 }
        #expect(test.activity.traffic?.transfers.isEmpty == true)
        try await test.until { [test, ids] in ids.count { test.hasBegun("/t/\($0)") } == 12 }
        var watch: TrafficWatch? = test.activity.watchTraffic()
        try await test.until { [test] in test.activity.traffic?.transfers.count == 30 }
        let listed = try #require(test.activity.traffic)
        #expect(listed.running + listed.queued == 30 && listed.running >= 8)
        #expect(Set(listed.transfers.map(\.host)) == [String(test.server.url("").dropFirst("http://".count))])
        withExtendedLifetime(watch) {}
        watch = nil
        gate.open()
        try await test.until { [test, ids] in try ids.allSatisfy { try test.photo($0).thumbnail.isCurrent } }
        try await idle()
        #expect(test.activity.traffic?.transfers.isEmpty == true)
        test.wishes.withdraw(wisher)
    }

    /// A screen that has closed must not have consumed the last report.
    @Test func theEndIsReportedAfterTheScreenHasClosed() async throws {
        try await begin()
        let gate = Gate()
        test.put("/t/n0", [.hold(gate)] + .answer(200, NetworkTest.picture("n0")))
        let wisher = wish(for: [try test.thumbnail("n0")])
        var watch: TrafficWatch? = test.activity.watchTraffic()
        try await test.until { [test] in test.activity.traffic?.transfers.count == 1 }
        withExtendedLifetime(watch) {}
        watch = nil
        try await test.until { [test] in test.activity.traffic?.running == 1 && !test.activity.isTrafficWatched }
        await controller.finishTurn()
        gate.open()
        try await idle()
        #expect(test.activity.traffic?.running == 0 && test.activity.traffic?.transfers.isEmpty == true)
        test.wishes.withdraw(wisher)
    }

    @Test func failuresAreRecordedAndRemoved() async throws {
        try await begin()
        test.put("/t/n0", .answer(503))
        test.put("/t/n1", .answer(404))
        let (passing, final) = (try test.thumbnail("n0"), try test.thumbnail("n1"))
        let wisher = wish(for: [passing, final])
        try await test.until { [test] in test.activity.failureCount == 2 }
        let reports = Dictionary(uniqueKeysWithValues: test.activity.failures.map { ($0.subject, $0) })
        #expect(reports[passing]?.failure == Failure("the server answered 503 (server error)", remedy: .time))
        #expect(reports[passing]?.attempts == 1 && reports[passing]?.next == Timestamp(milliseconds: 42_500))
        #expect(reports[final]?.failure == Failure("the server answered 404 (not found)", remedy: .none))
        #expect(reports[final]?.next == nil)
        test.put("/t/n0", .answer(200, NetworkTest.picture("back")))
        try await test.letTimePass(for: controller) { [test] in try test.photo("n0").thumbnail.isCurrent }
        try await test.until { [test] in test.activity.failures.map(\.subject) == [final] }
        // It stays a failure though no wish needs it.
        test.wishes.withdraw(wisher)
        try await idle()
        #expect(test.activity.failures == [reports[final]])
    }

    private func failed(_ subject: Wish.Subject) -> FailureReport? {
        test.activity.failures.first { $0.subject == subject }
    }

    /// A request by the user ends when it has failed permanently.
    @Test(.unlessItHangs) func aFailedListStaysAFailureUntilItSucceeds() async throws {
        try await begin()
        let before = test.site.withLock { $0["/index.xml"] ?? [] }
        test.put("/index.xml", .answer(404))
        try await test.refresh()
        try await idle()
        let report = try #require(failed(test.list))
        #expect(report.failure == Failure("the server answered 404 (not found)", remedy: .none))
        #expect(report.attempts == 1 && report.last == Timestamp(milliseconds: 42_000) && report.next == nil)
        test.put("/index.xml", before)
        try await test.refresh()
        try await idle()
        #expect(test.activity.failures.isEmpty)
    }

    @Test(.unlessItHangs) func aBulkFetchRecordsItsFailures() async throws {
        try await begin()
        test.put("/t/n1", .answer(404))
        let sweep = Wish.Subject.everyPicture(test.cache.id, .thumbnail)
        test.wishes.ask(for: sweep)
        try await test.until { [test] in !test.wishes.isStanding(sweep) }
        try await idle()
        #expect(test.activity.failures.map(\.subject) == [try test.thumbnail("n1")])
        #expect(test.activity.failures.first?.attempts == 1)
    }

    /// A subject that was scrolled away is not retried.
    @Test(.unlessItHangs) func anUnwantedSubjectIsNotRetried() async throws {
        try await begin()
        test.put("/t/n0", .answer(503))
        let wisher = wish(for: [try test.thumbnail("n0")])
        try await test.until { [test] in test.activity.failureCount == 1 }
        #expect(test.activity.failures.first?.next != nil)
        test.wishes.withdraw(wisher)
        try await test.until { [test] in test.activity.failures.first?.next == nil }
        try await idle()
        #expect(test.activity.failures.map(\.subject) == [try test.thumbnail("n0")])
        // When it is wanted again, it has a new history.
        test.put("/t/n0", .answer(200, NetworkTest.picture("back")))
        let again = wish(for: [try test.thumbnail("n0")])
        try await test.until { [test] in test.activity.failures.isEmpty }
        test.wishes.withdraw(again)
    }

    @Test(.unlessItHangs) func aRetryRemovesTheFailure() async throws {
        try await begin()
        let failing = ["n0", "n1", "n29"]
        for id in failing { test.put("/t/\(id)", .answer(404)) }
        let stays = try test.thumbnail("n1")
        let sweep = Wish.Subject.everyPicture(test.cache.id, .thumbnail)
        test.wishes.ask(for: sweep)
        try await test.until { [test] in !test.wishes.isStanding(sweep) }
        try await idle()
        #expect(test.activity.failureCount == 3)
        // One of them will be retried, and one is removed.
        try await test.cache.writer.retry([try test.key("n0")])
        try await test.until { [test] in test.activity.failureCount == 2 }
        test.putGallery(ids.dropLast())
        try await test.refresh()
        try await test.until { [test] in test.activity.failures.map(\.subject) == [stays] }
    }

    @Test func aPauseFinishesVisibleTransfersAndInterruptsTheRest() async throws {
        try await begin()
        let gate = Gate()
        for id in ids { test.put("/t/\(id)", [.hold(gate)] + .answer(200, NetworkTest.picture(id))) }
        let (seen, near) = (try ids[..<2].map { try test.thumbnail($0) }, try ids[2...].map { try test.thumbnail($0) })
        let wisher = test.wishes.makeWisher()
        test.wishes.state(
            seen.map { Wish($0, importance: .visible) } + near.map { Wish($0, importance: .near) }, by: wisher)
        try await test.until { [test, ids] in ids.count { test.hasBegun("/t/\($0)") } == 12 }
        test.wishes.pause()
        try await test.until { [test] in test.cancellations == 10 }
        gate.open()
        try await test.until { [test, ids] in try ids[..<2].allSatisfy { try test.photo($0).thumbnail.isCurrent } }
        try await idle()
        #expect(test.activity.traffic?.isPaused == true)
        #expect(try ids[2...].allSatisfy { try !test.photo($0).thumbnail.isCurrent })
        let begun = test.server.requests.count
        test.clock.advance(to: test.clock.now + .seconds(86_400))
        await controller.finishTurn()
        #expect(test.server.requests.count == begun, "nothing is begun in a pause")
        test.wishes.resume()
        try await test.until { [test, ids] in try ids.allSatisfy { try test.photo($0).thumbnail.isCurrent } }
        try await idle()
    }

    @Test func declinedSubjectsWaitAndRetriesStartSooner() async throws {
        try await begin()
        let gate = Gate()
        defer { gate.open() }
        test.put("/t/n0", [.hold(gate)])
        test.put("/t/n1", .answer(503, headers: ["Retry-After: 500"]))
        let (held, put) = (try test.thumbnail("n0"), try test.thumbnail("n1"))
        let wisher = wish(for: [held, put])
        try await test.until { [test] in test.hasBegun("/t/n0") && test.activity.failureCount == 1 }
        test.wishes.decline(held)
        try await test.until { [test] in test.cancellations == 1 }
        test.put("/t/n1", .answer(200, NetworkTest.picture("x")))
        test.wishes.retry([put])
        try await test.letTimePass(for: controller) { [test] in try test.photo("n1").thumbnail.isCurrent }
        #expect(test.clock.now < .seconds(10))
        try await idle()
        #expect(test.beginnings(of: "/t/n0") == 1, "declined, it is not begun again")
        test.wishes.withdraw(wisher)
    }
}
