import HTTP
import Session
import Model
import Numbers
import Synchronization
import TestSupport
import Testing
import Scheduling

@testable import Cache
@testable import Networking

/// Every fault with every thing: its message and retries, and that nothing of it is stored.
@Suite struct FaultTests {
    private let test: NetworkTest
    private let controller: NetworkController
    private let proxy: ScriptedServer?
    private let isGoverned: Bool

    /// Slow faults use short real time-outs. Elsewhere short ones would report faults on a busy machine.
    private init(_ fault: Fault?, _ governor: any Governor) throws {
        let isImpatient = fault?.isSlow ?? false
        let proxy = try fault?.proxy
        test = try NetworkTest {
            ($0.connectTimeout, $0.stallTimeout) = isImpatient ? (2, 2) : (60, 60)
            $0.certificates = Fault.authority.certificate
            guard let port = proxy?.port else { return }
            $0.proxies = ProxyChoice { ["all_proxy": "http://127.0.0.1:\(port)", "no_proxy": "127.0.0.1"][$0] }
        }
        self.proxy = proxy
        isGoverned = governor is AdaptiveGovernor
        // The longest random wait, so that the retry time is exact.
        controller = test.makeController(governor: governor, chance: { 1 })
    }

    init() throws { try self.init(nil, FixedGovernor(width: 4)) }

    @Test(
        "BEHAVIOURS 5.3, 5.5: every fault has its message and attempts and leaves nothing behind",
        arguments: Fault.cases)
    func fault(_ example: Fault.Case) async throws {
        try await FaultTests(example.fault, FixedGovernor(width: 4)).meet(example)
    }

    @Test(
        "BEHAVIOURS 5.3, 5.6: every fault has the same message and attempts under the real governor",
        arguments: Fault.cases)
    func governed(_ example: Fault.Case) async throws {
        try await FaultTests(example.fault, AdaptiveGovernor()).meet(example)
    }

    private func meet(_ example: Fault.Case) async throws {
        let (fault, path) = (example.fault, path(example.thing))
        test.putGallery(["a", "b"], headers: ["ETag: \"first\""])
        test.start(controller)
        try await test.refresh()
        let (subject, before) = (try subject(example.thing), try Contents(test))
        let count = test.beginnings(of: path)
        let resident = try arrange(fault.cause, at: path)
        defer { withExtendedLifetime(resident) {} }
        switch example.thing {
        case .list: test.wishes.ask(for: subject)
        case .thumbnail, .photo:
            test.wishes.state([Wish(subject, importance: .lookedAt)], by: test.wishes.makeWisher())
        }

        let failure = try await failure(of: subject)
        expect(failure.reason, is: fault)
        #expect(test.beginnings(of: path) == count + 1)
        // Redirects have a limit of their own.
        #expect(test.server.requests.count { $0.path == path || $0.path == "/loop" } <= count + 11)
        switch fault.fate {
        case .final: try await expectFinal(failure, subject, path)
        case .passing(let seconds) where isGoverned: try await expectPassing(subject, path, fault, seconds)
        case .passing(let seconds): try await expectPassing(failure, subject, path, fault, seconds)
        }
        #expect(try Contents(test) == before)
        // The next attempt may be under way.
        guard !isGoverned else { return }
        let partial = test.folder.entries("cache/galleries/\(test.cache.id)/partial")
        #expect(partial.count == (fault.kept > 0 ? 1 : 0), "\(partial)")
        #expect(test.folder.entries("cache/galleries/\(test.cache.id)/photos").isEmpty)
        #expect(test.cache.parts.size(try test.key("a"), edition: 1) == ByteCount(fault.kept))
    }

    /// The contents of the gallery, apart from the failure.
    private struct Contents: Equatable {
        let names: [String]
        let held: [Int?]
        let lastSuccess: Timestamp?
        let validators: Validators

        init(_ test: NetworkTest) throws {
            var photos: [Photo] = []
            try test.cache.read { try $0.forEachPhoto { photos.append($0) } }
            names = photos.map(\.name)
            held = photos.flatMap { [$0.thumbnail.held, $0.original.held] }
            let record = try test.cache.read { try $0.gallery() }
            (lastSuccess, validators) = (record.lastSuccess, record.validators)
        }
    }

    private func path(_ thing: Fault.Thing) -> String {
        switch thing {
        case .list: "/index.xml"
        case .thumbnail: "/t/a"
        case .photo: "/p/a"
        }
    }

    private func subject(_ thing: Fault.Thing) throws -> Wish.Subject {
        switch thing {
        case .list: test.list
        case .thumbnail: try test.thumbnail("a")
        case .photo: try test.full("a")
        }
    }

    /// Causes the fault from now on. Returns an object that must live meanwhile.
    private func arrange(_ cause: Fault.Cause, at path: String) throws -> (any Sendable)? {
        switch cause {
        case .answers(let steps): test.put(path, steps)
        case .silence: test.server.interrupt()
        case .leads(let status, let elsewhere):
            let place = try elsewhere(test)
            for path in [path, "/loop"] { test.put(path, .answer(status, headers: ["Location: \(place.url)"])) }
            return place.resident
        case .proxied(let scheme, _): test.put(path, .answer(302, headers: ["Location: \(scheme)://photos.test/"]))
        }
        return nil
    }

    private func expect(_ reason: String, is fault: Fault) {
        let isBlamed = fault.isBlamedOnNetwork && !NetworkPresence.current.isThere
        let expected = isBlamed ? "there is no network" : fault.reason
        let found = reason.replacing(#/127\.0\.0\.1(:\d+)?/#) { _ in "HOST" }
        if expected.hasSuffix("…") {
            #expect(found.hasPrefix(expected.dropLast()))
        } else if !fault.otherReasons.contains(found) {
            #expect(found == expected)
        }
    }

    /// Returns the failure once it is shown.
    private func failure(of subject: Wish.Subject) async throws -> Failure {
        try await test.until { [test] in try Self.said(of: subject, test) != nil || Self.isHere(subject, test) }
        return try #require(try Self.said(of: subject, test)).failure
    }

    private static func isHere(_ subject: Wish.Subject, _ test: NetworkTest) throws -> Bool {
        guard case .picture(_, _, let rendition) = subject else { return !test.wishes.isStanding(subject) }
        return try test.photo("a")[rendition].isCurrent
    }

    /// The shown failure of a subject, and whether it is final.
    private static func said(of subject: Wish.Subject, _ test: NetworkTest) throws -> (failure: Failure, isFinal: Bool)?
    {
        if case .picture(_, _, let rendition) = subject {
            return switch try test.photo("a")[rendition].trouble {
            case .bad(let failure): (failure, true)
            case .putOff(let failure): (failure, false)
            case nil: nil
            }
        }
        return switch try test.status.state {
        case .failed(let failure): (failure, true)
        case .updating(.waiting(let failure, _)): (failure, false)
        default: nil
        }
    }

    /// Checks that the failure is shown and never retried.
    private func expectFinal(_ failure: Failure, _ subject: Wish.Subject, _ path: String) async throws {
        #expect(failure.remedy == .none)
        try await test.until { [test] in try Self.said(of: subject, test)?.isFinal == true }
        await controller.finishTurn()
        #expect((test.clock.alarms.isEmpty || isGoverned) && test.activity.failures.allSatisfy { $0.next == nil })
        let count = test.beginnings(of: path)
        test.clock.advance(to: .seconds(1_000_000))
        await controller.finishTurn()
        #expect(test.beginnings(of: path) == count && !test.wishes.isStanding(subject))
        guard proxy != nil else { return }
        // A retry by the user sends a request, since the password may be stored by now.
        try await test.cache.writer.retry()
        if case .list = subject { test.wishes.ask(for: subject) }
        try await test.until { [test] in
            try test.beginnings(of: path) > count && Self.said(of: subject, test)?.isFinal == true
        }
        await controller.finishTurn()
        #expect(try Self.said(of: subject, test)?.failure == failure && test.beginnings(of: path) == count + 1)
    }

    /// Checks that the failure is shown and retried when it is due, not before.
    private func expectPassing(
        _ failure: Failure, _ subject: Wish.Subject, _ path: String, _ fault: Fault, _ seconds: Int
    ) async throws {
        #expect(failure.isTemporary)
        let count = test.beginnings(of: path)
        // A photo with a kept part sends a range, which this server ignores.
        let waits = fault.isSlow || fault.kept > 0 ? [1] : [1, 60, 3_600, 21_600, 21_600]
        var due = test.clock.now
        for (number, wait) in waits.enumerated() {
            if number > 0 { test.clock.advance(to: due) }
            due = test.clock.now + .seconds(max(wait, min(seconds, 21_600)))
            try await test.until { [test, due] in
                let said = try Self.said(of: subject, test)
                let isSaid = said?.failure == failure || said != nil && !fault.otherReasons.isEmpty
                return isSaid && said?.isFinal == false && test.clock.alarms == [due]
            }
            if let said = try Self.said(of: subject, test) { expect(said.failure.reason, is: fault) }
            #expect(test.beginnings(of: path) == count + number)
        }
    }

    /// The governor affects retries too: an unreachable host is probed after 1, 2, 4 … 30 seconds.
    private func expectPassing(
        _ subject: Wish.Subject, _ path: String, _ fault: Fault, _ seconds: Int
    ) async throws {
        let count = test.beginnings(of: path)
        let most = fault.isSlow || fault.kept > 0 ? count + 1 : count + 8
        try await test.letTimePass(for: controller) { [test] in
            test.clock.now >= .seconds(90) || test.beginnings(of: path) == most
        }
        // A moment later the next attempt may have started, and then no failure is shown.
        let found = Mutex<Failure?>(nil)
        try await test.until { [test] in
            let failure = try Self.said(of: subject, test)?.failure
            found.withLock { $0 = failure }
            return failure != nil
        }
        // Not before the time that the server has stated.
        #expect((seconds < 90 ? count + 1...most : count...count + 1).contains(test.beginnings(of: path)))
        let said = try #require(found.withLock { $0 })
        expect(said.reason, is: fault)
        #expect(said.isTemporary)
    }

    /// No list is held, and no validators were sent.
    @Test("BEHAVIOURS 2.7: a 304 to the first list leads to another request")
    func unchangedFromTheBeginning() async throws {
        test.put("/index.xml", .answer(304))
        test.start(controller)
        test.wishes.ask(for: test.list)
        #expect(try await failure(of: test.list) == Failure("the server sent nothing", remedy: .time))
        test.putGallery(["a"])
        await test.clock.advanceToNextAlarm()
        try await test.until { [test] in try test.status.state == .updated }
        #expect(test.server.requests.allSatisfy { $0.headers["if-none-match"] == nil })
    }

    @Test(
        "A list is recognized by its content, whatever its content type", arguments: ["text/plain", "image/jpeg"])
    func otherType(type: String) async throws {
        test.putGallery(["a", "b"], headers: ["Content-Type: \(type)"])
        test.start(controller)
        try await test.refresh()
        #expect(try test.cache.read { try $0.gallery() }.photoCount == 2)
    }
}
