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

/// A server that is away for half a minute amid many transfers, under the real governor.
@Suite(.serialized) struct OutageTests {
    private let test: NetworkTest
    private let controller: NetworkController
    private let site = Site()

    /// The kind of outage.
    enum Outage: CaseIterable, Sendable {
        /// The port is closed and every connection is reset.
        case gone
        /// Connections succeed but no data comes.
        case stalled
    }

    /// The server's current behaviour and what it has sent.
    private final class Site: Sendable {
        struct State {
            /// Whether the server is back.
            var isBack = false
            /// The number of thumbnails answered.
            var thumbnails = 0
            /// Bytes of photos sent, by path.
            var bytes: [String: Int] = [:]
            /// The paths answered after the outage.
            var late: [String] = []
        }

        let state = Mutex(State())
        /// Opens when the server is back. Until then nothing more is sent.
        let gate = Gate()

        static let photo = NetworkTest.picture(String(repeating: "p", count: 299_996))
        /// Bytes of each photo sent before the outage.
        static let beginning = 100_000
        /// Thumbnails sent before the outage.
        static let early = 200

        func thumbnail(_ path: String) -> [ScriptedServer.Step] {
            let isHeld = state.withLock { state in
                if !state.isBack, state.thumbnails == Self.early { return true }
                state.thumbnails += 1
                if state.isBack { state.late.append(path) }
                return false
            }
            return isHeld ? [.hold(gate), .reset] : .answer(200, NetworkTest.picture(path))
        }

        func photo(_ request: ScriptedServer.Request) -> [ScriptedServer.Step] {
            let range = request.headers["range"]?.split(separator: "=").last?.split(separator: "-").first
            let begin = range.flatMap { Int($0) } ?? 0
            let (isBack, isFirst) = state.withLock { state in
                let isFirst = state.bytes[request.path] == nil
                if state.isBack {
                    state.late.append(request.path)
                    state.bytes[request.path, default: 0] += Self.photo.count - begin
                } else if isFirst {
                    state.bytes[request.path] = Self.beginning
                }
                return (state.isBack, isFirst)
            }
            guard isBack || isFirst else { return [.hold(gate), .reset] }
            guard isBack else {
                let head = "HTTP/1.1 200 OK\r\nETag: \"1\"\r\nContent-Length: \(Self.photo.count)\r\n\r\n"
                return [.send(head), .send(Array(Self.photo.prefix(Self.beginning))), .hold(gate), .reset]
            }
            let rest = Array(Self.photo.dropFirst(begin))
            guard begin > 0 else { return .answer(200, rest, headers: ["ETag: \"1\""]) }
            let place = "Content-Range: bytes \(begin)-\(Self.photo.count - 1)/\(Self.photo.count)"
            return .answer(206, rest, headers: ["ETag: \"1\"", place])
        }
    }

    /// Stalls use real time. In other tests the time-out is long, so that a busy machine causes none.
    private init(stallTimeout: Int) throws {
        test = try NetworkTest { $0.stallTimeout = stallTimeout }
        controller = test.makeController(governor: AdaptiveGovernor())
        test.answer.withLock { [site] in
            $0 = { request in
                if request.path.hasPrefix("/t/") { return site.thumbnail(request.path) }
                return request.path.hasPrefix("/p/") ? site.photo(request) : nil
            }
        }
    }

    init() throws { try self.init(stallTimeout: 60) }

    private static let ids = (0..<500).map { "n\($0)" }
    private static let photos = ids.prefix(3)

    private func held() throws -> [Int64] {
        try test.cache.read { cache in
            try cache.connection.map("SELECT count(thumbnail_held), count(photo_held) FROM photo") {
                [$0.int(0), $0.int(1)]
            }[0]
        }
    }

    @Test(
        "BEHAVIOURS 5.3, 5.4, 5.9: after an outage only the missing pictures are fetched",
        arguments: Outage.allCases)
    func outage(outage: Outage) async throws {
        try await OutageTests(stallTimeout: outage == .stalled ? 3 : 60).meet(outage)
    }

    private func meet(_ outage: Outage) async throws {
        defer { site.gate.open() }
        test.putGallery(Self.ids)
        test.start(controller)
        try await test.refresh()
        let photos = try Self.photos.map { try test.full($0) }
        let thumbnails = try Self.ids.map { try test.thumbnail($0) }
        test.wishes.state(
            (photos + thumbnails).map { Wish($0, importance: .visible) }, by: test.wishes.makeWisher())
        // On a busy machine, photos may fail before all those thumbnails have come.
        try await test.until { [test] in
            let begun = photos.filter { test.activity.progress(of: $0)?.done == ByteCount(Site.beginning) }
            let givenUp = test.activity.failures.map(\.subject)
            return try held() == [Int64(Site.early), 0] && Set(begun + givenUp).isSuperset(of: photos)
        }

        let begin = test.clock.now
        try await leave(outage, photos)
        #expect(try held() == [Int64(Site.early), 0])
        let attempts = test.activity.failures.map(\.attempts).max() ?? 0
        #expect((1...6).contains(attempts), "there were \(attempts) attempts at one thing")

        comeBack(outage)
        try await test.letTimePass(for: controller) { [test] in
            try held() == [500, 3] && test.activity.failures.isEmpty
        }
        // A probe comes at least twice a minute and wakes all others.
        #expect(test.clock.now <= begin + .seconds(75))
        let (late, sent) = site.state.withLock { ($0.late, $0.bytes) }
        #expect(Set(late).count == late.count, "something was transferred twice")
        #expect(late.count == 500 - Site.early + 3)
        #expect(sent.count == Self.photos.count && sent.values.allSatisfy { $0 == Site.photo.count })
        for id in Self.photos {
            let file = try #require(try test.cache.read { try $0.photoFile(of: test.key(id)) })
            #expect(test.cache.files.isIntact(file) && file.size == Site.photo.count)
        }
        #expect(test.folder.entries("cache/galleries/\(test.cache.id)/partial").isEmpty)
    }

    /// Starts the outage and lets half a minute pass.
    private func leave(_ outage: Outage, _ photos: [Wish.Subject]) async throws {
        let end = test.clock.now + .seconds(30)
        switch outage {
        case .gone:
            test.server.interrupt()
            try await test.letTimePass(for: controller) { [test] in test.clock.now >= end }
        case .stalled:
            await test.clock.pass(to: end)
        }
        // Everything that was under way has failed.
        try await test.until { [test] in
            Set(test.activity.failures.map(\.subject)).isSuperset(of: photos)
        }
    }

    private func comeBack(_ outage: Outage) {
        site.state.withLock { $0.isBack = true }
        if outage == .gone { test.server.goOn() }
        site.gate.open()
    }
}
