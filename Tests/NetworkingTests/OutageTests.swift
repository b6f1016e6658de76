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

/// A server that goes away for half a minute in the middle of many transfers, under the real governor.
@Suite(.serialized) struct OutageTests {
    private let test: NetworkTest
    private let controller: NetworkController
    private let site = Site()

    /// How it goes away.
    enum Outage: CaseIterable, Sendable {
        /// The port is closed, and every connection is reset.
        case gone
        /// Connections stay and can be made, and nothing comes.
        case stalled
    }

    /// What the server does at the moment, and what it has sent.
    private final class Site: Sendable {
        struct State {
            /// Whether it has come back.
            var isBack = false
            /// Thumbnails that it has answered.
            var thumbnails = 0
            /// Bytes of photos that it has sent, by path.
            var bytes: [String: Int] = [:]
            /// What it has answered since it came back.
            var late: [String] = []
        }

        let state = Mutex(State())
        /// Opens when the server comes back. Until then nobody gets more than what was sent before it went.
        let gate = Gate()

        static let photo = NetworkTest.picture(String(repeating: "p", count: 299_996))
        /// Of each photo so much comes before the server goes.
        static let beginning = 100_000
        /// So many thumbnails do.
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

    /// A stall is waited for in earnest. Where there is to be none, a machine that has much to do must not be taken for one.
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
        "BEHAVIOURS 5.3, 5.4, 5.9: what a server could not send when it went away comes when it is back, and only that",
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
        // On a machine that has much to do photos may have been given up before all those thumbnails are there.
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
        // A probe comes twice a minute at least, and wakes all others.
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

    /// The server goes, and half a minute passes.
    private func leave(_ outage: Outage, _ photos: [Wish.Subject]) async throws {
        let end = test.clock.now + .seconds(30)
        switch outage {
        case .gone:
            test.server.interrupt()
            try await test.letTimePass(for: controller) { [test] in test.clock.now >= end }
        case .stalled:
            await test.clock.pass(to: end)
        }
        // All of those that were under way have been given up.
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
