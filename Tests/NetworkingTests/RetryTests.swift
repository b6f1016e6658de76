import Glibc
import Session
import HTTP
import Model
import TestSupport
import Scheduling
import Testing

@testable import Cache
@testable import Networking

@Suite("BEHAVIOURS 5.3: retries and their times") struct RetryTests {
    private let test: NetworkTest

    init() throws { test = try NetworkTest() }

    @Test func retryAfterHasTwoForms() {
        #expect(RetryAfter.seconds("120") == 120)
        let now = 784_111_740
        #expect(RetryAfter.seconds("Sun, 06 Nov 1994 08:49:37 GMT", now: now) == 37)
        #expect(RetryAfter.seconds("Sun, 06 Nov 1994 08:00:00 GMT", now: now) == 0)
        // Years and huge numbers count as one day.
        for text in ["86401", "18446744073709551616", "Fri, 31 Dec 9999 23:59:59 GMT"] {
            #expect(RetryAfter.seconds(text, now: now) == RetryAfter.most)
        }
        for text in ["", "-1", "+5", "soon", "Sun, 06 Foo 1994 08:49:37 GMT"] {
            #expect(RetryAfter.seconds(text) == nil)
        }
    }

    @Test(arguments: [408, 425, 429, 500, 502, 503, 504]) func transientStatuses(code: Int) {
        #expect(RequestError.status(code, retryAfter: nil).failure.isTemporary)
    }

    @Test(arguments: [400, 401, 403, 404, 407, 410, 416, 501, 505]) func finalStatuses(code: Int) {
        #expect(!RequestError.status(code, retryAfter: nil).failure.isTemporary)
    }

    /// Otherwise the list would be fetched again and again without being stored.
    @Test func damagedCache() throws {
        guard case .database(let damaged) = CacheError.database(.damaged(reason: "malformed")),
            case .database(let locked) = CacheError.database(.locked)
        else { return }
        #expect(
            RequestError(damaged).failure == Failure("The database is damaged: malformed", remedy: .none))
        let memory = CacheError.database(.noMemory)
        #expect(RequestError(memory).failure.isTemporary)
        #expect(RequestError(locked).failure.isTemporary && RequestError(CacheError.conflict).failure.isTemporary)
    }

    @Test func noNetworkIsReportedOnlyWithoutAnAddress() {
        for error in [HTTPError.noRoute("nas.local"), .unknownHost("x"), .unknownProxy, .stalled] {
            #expect(NetworkPresence.refine(.transfer(error), hasAddress: true) == .transfer(error))
            #expect(NetworkPresence.refine(.transfer(error), hasAddress: false) == .noNetwork)
        }
        #expect(NetworkPresence.refine(.transfer(.broken), hasAddress: false) == .transfer(.broken))
    }

    @Test func finalErrors() {
        for error in [
            HTTPError.tls("x"), .certificate("x"), .tooLarge(limit: 1), .file("x"), .tooManyRedirects,
            .forbiddenRedirect, .malformed("x"), .url("x"),
        ] { #expect(!RequestError.transfer(error).failure.isTemporary) }
        #expect(!RequestError.wrongType("a text").failure.isTemporary)
    }

    /// The data is not to blame, so it is not marked as bad.
    @Test func diskErrorsAreTemporary() {
        for error in [
            RequestError.cache(.full), .cache(.readOnly), .cache(.file("x", code: EIO)),
            .cache(.cannotOpen("x", code: EIO)), .cache(.database(.disk(reason: "x"))),
            .transfer(.disk(code: ENOSPC)), .transfer(.disk(code: EIO)),
        ] { #expect(error.failure.isTemporary && error.storageTrouble != nil, "\(error)") }
        #expect(RequestError.transfer(.disk(code: ENOSPC)).storageTrouble == .full)
        #expect(RequestError.transfer(.disk(code: ENOSPC)).failure == RequestError.cache(.full).failure)
        for error in [RequestError.cache(.conflict), .cache(.database(.locked)), .transfer(.cut)] {
            #expect(error.failure.isTemporary && error.storageTrouble == nil, "\(error)")
        }
    }

    @Test("BEHAVIOURS 2.2, 7.7: a wait shows its failure, and then the retry starts")
    func listIsTriedAgain() async throws {
        test.put("/index.xml", .answer(503))
        test.start()
        test.wishes.ask(for: test.list)
        let failure = Failure("the server answered 503 (server error)", remedy: .time)
        try await test.until {
            try self.test.status.state == .updating(.waiting(failure, until: Timestamp(milliseconds: 42_500)))
        }
        #expect(try test.cache.read { try $0.gallery().failure } == failure)
        #expect(await test.clock.advanceToNextAlarm() == .milliseconds(500))
        // The second wait is a part of a minute.
        try await test.until { self.test.paths.count == 2 }
        test.putGallery(["a"])
        #expect(await test.clock.advanceToNextAlarm() == .milliseconds(30_500))
        try await test.until { try self.test.status.state == .updated }
        #expect(test.paths.count == 3)
    }

    @Test func askingAgainShortensTheWait() async throws {
        test.put("/index.xml", .answer(503))
        test.start()
        test.wishes.ask(for: test.list)
        await test.clock.advanceToNextAlarm()
        try await test.until { self.test.paths.count == 2 }
        try await test.until {
            if case .updating(.waiting) = try self.test.status.state { true } else { false }
        }
        test.putGallery(["a"])
        // It has just failed: a held key causes one request per second, and none is lost.
        for _ in 0..<20 { test.wishes.ask(for: test.list) }
        try await test.until { self.test.clock.alarms == [self.test.clock.now + .seconds(1)] }
        #expect(test.paths.count == 2)
        test.clock.advance(to: test.clock.now + .seconds(1))
        try await test.until { try self.test.status.state == .updated }
        #expect(test.paths.count == 3)
    }

    @Test("BEHAVIOURS 2.3: a refresh restarts the retry schedule")
    func refreshBeginsTheScheduleAnew() async throws {
        test.put("/index.xml", .answer(503))
        let controller = test.start()
        test.wishes.ask(for: test.list)
        try await untilWaiting(afterRequests: 1, controller)
        await test.clock.advanceToNextAlarm()
        try await untilWaiting(afterRequests: 2, controller)
        await test.clock.advanceToNextAlarm()
        try await untilWaiting(afterRequests: 3, controller)
        #expect(await controller.waiting[test.list]?.until.map { $0 - test.clock.now } == .seconds(1_800))
        test.clock.advance(to: test.clock.now + .seconds(2))
        test.wishes.ask(for: test.list)
        try await untilWaiting(afterRequests: 4, controller)
        #expect(await controller.waiting[test.list]?.until.map { $0 - test.clock.now } == .milliseconds(500))
    }

    /// Waits until the list has failed so often and its retry is planned.
    private func untilWaiting(afterRequests count: Int, _ controller: NetworkController) async throws {
        try await test.until { [test] in
            guard test.paths.count == count, case .updating(.waiting) = try test.status.state else { return false }
            return true
        }
        await controller.finishTurn()
    }

    @Test("BEHAVIOURS 2.3: an update can be stopped during a wait")
    func stopWhileWaiting() async throws {
        test.put("/index.xml", .answer(503))
        test.start()
        test.wishes.ask(for: test.list)
        try await test.until { !self.test.clock.alarms.isEmpty }
        test.wishes.stop(test.list)
        try await test.until { try self.test.status.state == .cancelled }
        #expect(!test.activity.isBusy)
    }

    /// The writer is slow, as on a slow disk. Meanwhile the user stops the update.
    @Test func stoppingWhileTheFailureIsRecorded() async throws {
        test.put("/index.xml", .answer(503))
        let controller = test.start()
        let gate = Gate()
        await test.holdWriter(gate)
        test.wishes.ask(for: test.list)
        try await test.until { self.test.log.entries.contains { $0.message.hasSuffix("will retry") } }
        test.wishes.stop(test.list)
        try await test.until { try self.test.status.state == .cancelled }
        gate.open()
        try await test.until { try self.test.cache.read { try $0.gallery().failure } != nil }
        await controller.finishTurn()
        #expect(try test.status.state == .cancelled && !test.activity.isBusy)
    }

    /// The list's commit arrives after the failure, and before the row shows the failure.
    @Test("BEHAVIOURS 5.3: a change before the failure causes no retry")
    func aChangeThatIsHeardOfLate() async throws {
        test.putGallery(["a"])
        let controller = test.start()
        try await test.refresh()
        test.put("/t/a", .answer(503))
        let gate = Gate()
        await test.holdWriter(gate)
        let thumbnail = try test.thumbnail("a")
        test.wishes.ask(for: thumbnail)
        try await test.until { self.test.log.entries.contains { $0.message.hasSuffix("will retry") } }
        await controller.rowChanged(thumbnail)
        gate.open()
        try await test.until { [test] in
            try test.photo("a").thumbnail.trouble != nil && test.clock.alarms.count == 1
        }
        #expect(test.beginnings(of: "/t/a") == 1)
    }

    /// Another process updates the list at the same time, which shows just after the stop.
    @Test func stoppingDuringTheFailure() async throws {
        test.putGallery(["a"])
        test.start()
        try await test.refresh()
        test.putGallery(["a", "b"])
        let gate = Gate()
        await test.holdWriter(gate, thenCommit: try test.cache.beginSync().finish())
        test.wishes.ask(for: test.list)
        try await test.until { try self.test.status.state == .updating(.committing) }
        test.wishes.stop(test.list)
        // Later wishes arrive later.
        test.wishes.ask(for: .everyPicture(test.cache.id, .thumbnail))
        try await test.until { self.test.hasBegun("/t/a") }
        gate.open()
        try await test.until { try !self.test.status.isRunning }
        #expect(try test.status.state == .cancelled && !test.activity.isBusy)
    }

    /// Another process has fetched the same list faster, so nothing is left to do.
    @Test("BEHAVIOURS 2.1: a list that another process has just stored counts as stored")
    func anotherWasFaster() async throws {
        test.putGallery(["a"])
        test.start()
        try await test.refresh()
        test.putGallery(["a", "b"], headers: ["ETag: \"2\""])
        let gate = Gate()
        await test.holdWriter(
            gate, thenCommit: try test.cache.beginSync().finish(), validators: Validators(etag: "\"2\""))
        test.wishes.ask(for: test.list)
        try await test.until { try self.test.status.state == .updating(.committing) }
        gate.open()
        try await test.until { !self.test.wishes.isStanding(self.test.list) }
        #expect(try test.status.state == .updated && test.clock.alarms.isEmpty && test.paths.count == 2)
    }

    @Test("BEHAVIOURS 4.4: a full disk marks no picture as failed and ends bulk fetches")
    func fullDisk() async throws {
        let ids = (0..<200).map { "\($0)" }
        test.putGallery(ids)
        for id in ids { test.put("/t/\(id)", .answer(200, NetworkTest.picture(String(repeating: "x", count: 9_000)))) }
        test.start()
        try await test.refresh()
        try await test.cache.writer.fill()
        let sweep = Wish.Subject.everyPicture(test.cache.id, .thumbnail)
        test.wishes.ask(for: sweep, importance: .near)
        try await test.until { !self.test.wishes.isStanding(sweep) }
        #expect(test.activity.takeNotices() == [StorageTrouble.full.notice])
        #expect(test.paths.count { $0.hasPrefix("/t/") } < ids.count / 2)
        for id in ids {
            if case .bad = try test.photo(id).thumbnail.trouble { Issue.record("\(id) is said to be bad") }
        }
        #expect(try test.status.state == .updated)
    }

    @Test func aFinalFailureEndsTheUpdate() async throws {
        test.start()
        try await test.refresh()
        #expect(
            try test.status.state == .failed(Failure("the server answered 404 (not found)", remedy: .none)))
        #expect(test.paths == ["/index.xml"] && test.clock.alarms.isEmpty)
    }

    @Test("BEHAVIOURS 3.2: a thumbnail is postponed, retried and stored")
    func thumbnailIsTriedAgain() async throws {
        test.putGallery(["a"])
        test.put("/t/a", [.reset])
        test.start()
        try await test.refresh()
        let wisher = test.wishes.makeWisher()
        test.wishes.state([Wish(try test.thumbnail("a"), importance: .visible)], by: wisher)
        try await test.until { try self.test.photo("a").thumbnail.trouble != nil }
        #expect(
            try test.photo("a").thumbnail.trouble == .putOff(Failure("the connection broke", remedy: .time)))
        test.put("/t/a", .answer(200, NetworkTest.picture("back")))
        await test.clock.advanceToNextAlarm()
        try await test.until { try self.test.photo("a").thumbnail.isCurrent }
        #expect(try test.photo("a").thumbnail.trouble == nil)
    }

    @Test("BEHAVIOURS 3.2: a failed thumbnail waits for a refresh")
    func badThumbnail() async throws {
        test.putGallery(["a"])
        test.put("/t/a", .answer(404))
        test.start()
        try await test.refresh()
        let wisher = test.wishes.makeWisher()
        test.wishes.state([Wish(try test.thumbnail("a"), importance: .visible)], by: wisher)
        try await test.until { try self.test.photo("a").thumbnail.trouble != nil }
        try await test.refresh()
        #expect(test.paths.filter { $0 == "/t/a" }.count == 1)
        test.put("/t/a", .answer(200, NetworkTest.picture("mended")))
        try await test.cache.writer.retry()
        try await test.until { try self.test.photo("a").thumbnail.isCurrent }
        #expect(test.paths.filter { $0 == "/t/a" }.count == 2)
    }

    @Test func aRefreshShortensTheWait() async throws {
        test.putGallery(["a"])
        test.put("/t/a", .answer(503, headers: ["Retry-After: 3000"]))
        test.start()
        try await test.refresh()
        let wisher = test.wishes.makeWisher()
        test.wishes.state([Wish(try test.thumbnail("a"), importance: .visible)], by: wisher)
        try await test.until { self.test.clock.alarms == [.seconds(3_000)] }
        test.put("/t/a", .answer(200, NetworkTest.picture("back")))
        try await test.cache.writer.retry()
        try await test.until { try self.test.photo("a").thumbnail.isCurrent }
    }

    @Test func requestsFailAfterTheMaximumOfAttempts() async throws {
        test.putGallery(["a"])
        test.put("/t/a", .answer(503))
        test.start(maximumAttempts: 2)
        try await test.refresh()
        let sweep = Wish.Subject.everyPicture(test.cache.id, .thumbnail)
        test.wishes.ask(for: sweep, importance: .near)
        await test.clock.advanceToNextAlarm()
        try await test.until { !self.test.wishes.isStanding(sweep) }
        #expect(test.paths.filter { $0 == "/t/a" }.count == 2)
        guard case .putOff = try test.photo("a").thumbnail.trouble else {
            Issue.record("it could still be had another day")
            return
        }
    }
}
