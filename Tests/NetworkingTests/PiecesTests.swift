import Foundation
import Session
import Model
import Synchronization
import TestSupport
import Testing

@testable import Cache
@testable import Networking
@testable import Scheduling

/// Photos in pieces, from the wish to the cache.
@Suite struct PiecesTests {
    private let test: NetworkTest
    private static let whole = NetworkTest.picture(String(repeating: "p", count: 199_996))

    init() throws { test = try NetworkTest() }

    /// Splits every photo into pieces, with a window that the test sets.
    private struct PiecemealGovernor: Governor {
        let window: Window
        private var inner = FixedGovernor(width: 4)

        final class Window: Sendable {
            private let bytes: Mutex<Double>
            init(_ bytes: Double) { self.bytes = Mutex(bytes) }
            var current: Double { bytes.withLock { $0 } }
            func set(_ count: Double) { bytes.withLock { $0 = count } }
        }

        init(_ window: Window) { self.window = window }

        mutating func admit(_ candidate: TransferCandidate, at now: Double) -> Admission {
            candidate.kind == .photo ? .now(Admission.Way(.any, inPieces: true)) : inner.admit(candidate, at: now)
        }
        mutating func recordStart(
            of transfer: Int, _ candidate: TransferCandidate, over way: Admission.Way, at now: Double
        ) {
            inner.recordStart(of: transfer, candidate, over: way, at: now)
        }
        func pieces(of transfer: Int) -> TransferPieces { TransferPieces(window: window.current, of: 1_000_000) }
        mutating func record(_ event: TransferEvent, of transfer: Int, at now: Double) {
            inner.record(event, of: transfer, at: now)
        }
        mutating func recordComplaint(of host: String, silence: Double, at now: Double) {}
        mutating func endSilence(of host: String) {}
        mutating func recordNetworkChange(at now: Double) {}
        mutating func advance(to now: Double, waiting: (String) -> Int) -> [Int] { [] }
        mutating func takeHanging(at now: Double) -> [Int: Admission.Way] { [:] }
        func timeUntilHanging(at now: Double) -> Double? { nil }
        func timeUntilAdvance(at now: Double, waiting: (String) -> Int) -> Double? { nil }
        var history: HostHistory { HostHistory() }
        var report: GovernorReport { inner.report }
    }

    /// Answers with a range of one photo.
    private static func part(_ request: ScriptedServer.Request) -> [ScriptedServer.Step]? {
        guard request.path.hasPrefix("/p/"), let range = request.headers["range"] else { return nil }
        let ends = range.dropFirst("bytes=".count).split(separator: "-").compactMap { Int($0) }
        let last = min(ends.count > 1 ? ends[1] : .max, whole.count - 1)
        return .answer(
            206, Array(whole[ends[0]...last]),
            headers: ["ETag: \"1\"", "Content-Range: bytes \(ends[0])-\(last)/\(whole.count)"])
    }

    private func start(_ window: PiecemealGovernor.Window) async throws -> NetworkController {
        test.putGallery(["a"])
        test.answer.withLock { $0 = { Self.part($0) } }
        let controller = test.start(test.makeController(governor: PiecemealGovernor(window)))
        try await test.refresh()
        test.wishes.state([Wish(try test.full("a"), importance: .lookedAt)], by: test.wishes.makeWisher())
        return controller
    }

    private func expectWhole() throws {
        let file = try #require(try test.cache.read { try $0.photoFile(of: test.key("a")) })
        let bytes = try Data(contentsOf: URL(fileURLWithPath: test.cache.files.path(file)))
        #expect(Array(bytes) == Self.whole)
        #expect(test.folder.entries("cache/galleries/\(test.cache.id)/partial").isEmpty)
    }

    @Test("BEHAVIOURS 5.9: a photo in pieces is stored intact")
    func stored() async throws {
        _ = try await start(PiecemealGovernor.Window(150_000))
        try await test.until { [test] in try test.photo("a").original.isCurrent }
        try expectWhole()
        let ranges = test.server.requests.compactMap { $0.headers["range"] }
        #expect(Set(ranges).count == 5)
    }

    @Test("A photo in pieces waits for the time that its server asked for, and keeps the part that has arrived")
    func tooManyRequests() async throws {
        let window = PiecemealGovernor.Window(0)
        let controller = try await start(window)
        let photo = try test.full("a")
        try await test.until { [test] in test.activity.progress(of: photo)?.done == 41_666 }
        // A part of one piece is too small to keep.
        test.answer.withLock {
            $0 = { request in
                request.headers["range"] == "bytes=41666-83331"
                    ? Self.part(request) : .answer(429, "", headers: ["Retry-After: 30"])
            }
        }
        // This window has space for one piece at a time.
        window.set(1)
        await controller.look()
        try await test.until { [test] in test.clock.alarms.contains(.seconds(30)) }
        await controller.finishTurn()
        #expect(await controller.waiting[photo]?.until == .seconds(30))
        let failure = Failure("the server answered 429 (too many requests)", remedy: .time)
        #expect(test.activity.failures.map(\.failure) == [failure])
        test.answer.withLock { $0 = { Self.part($0) } }
        window.set(150_000)
        test.clock.advance(to: .seconds(29))
        await controller.finishTurn()
        let ranges = ["bytes=0-41665", "bytes=41666-83331", "bytes=83332-124997"]
        #expect(test.server.requests.compactMap { $0.headers["range"] } == ranges)
        test.clock.advance(to: .seconds(30))
        try await test.until { [test] in try test.photo("a").original.isCurrent }
        try expectWhole()
        // The server may limit the requests at a time, so the rest comes in one.
        #expect(test.server.requests.compactMap { $0.headers["range"] }.dropFirst(3) == ["bytes=83332-"])
    }

    @Test("BEHAVIOURS 5.6: a transfer in pieces pauses for a more important one and loses nothing")
    func stopsAndGoesOn() async throws {
        let window = PiecemealGovernor.Window(0)
        let controller = try await start(window)
        let photo = try test.full("a")
        // The first piece comes even with an empty window.
        try await test.until { [test] in test.activity.progress(of: photo)?.done == 41_666 }
        #expect(test.server.requests.count { $0.headers["range"] != nil } == 1)
        window.set(150_000)
        await controller.look()
        try await test.until { [test] in try test.photo("a").original.isCurrent }
        try expectWhole()
        #expect(Set(test.server.requests.compactMap { $0.headers["range"] }).count == 5)
    }
}
