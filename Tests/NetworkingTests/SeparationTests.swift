import Model
import Session
import Numbers
import TestSupport
import Testing
import Scheduling

@testable import Cache
@testable import Networking

/// Managing, transferring and parsing do not wait for each other.
@Suite struct SeparationTests {
    private let test: NetworkTest
    private let ids = (0..<20).map { "n\($0)" }

    init() throws { test = try NetworkTest() }

    private func thumbnails() throws -> [Wish] {
        try ids.map { Wish(try test.thumbnail($0), importance: .visible) }
    }

    /// An endless list that comes as fast as it is parsed, so that the parser is always busy.
    @Test("BEHAVIOURS 5.1: parsing a list blocks neither transfers nor stops")
    func busyWithAList() async throws {
        test.putGallery(ids)
        test.start()
        try await test.refresh()
        let gate = Gate()
        defer { gate.open() }
        let passedOver = Array(String(repeating: "<other a=\"b\"/>", count: 1_000).utf8)
        test.put("/index.xml", [.send("HTTP/1.1 200 OK\r\n\r\n<album>"), .sendUntil(gate, passedOver)])
        test.wishes.ask(for: test.list)
        try await test.until { [test] in
            guard case .updating(.getting(let progress, _)) = try test.status.state else { return false }
            return progress.done > 1 << 20
        }
        let wisher = test.wishes.makeWisher()
        test.wishes.state(try thumbnails(), by: wisher)
        try await test.until { [test, ids] in try ids.allSatisfy { try test.photo($0).thumbnail.isCurrent } }
        #expect(try test.status.isRunning && !gate.isOpen)
        test.wishes.stop(test.list)
        try await test.until { [test] in try test.status.state == .cancelled }
        #expect(!gate.isOpen && !test.activity.isBusy)
    }

    /// As on a disk that does not answer for a while.
    @Test("BEHAVIOURS 5.1: a blocked writer blocks neither transfers nor stops")
    func blockedWriter() async throws {
        test.putGallery(ids)
        test.start()
        try await test.refresh()
        let gate = Gate()
        defer { gate.open() }
        await test.holdWriter(gate)
        let wisher = test.wishes.makeWisher()
        test.wishes.state(try thumbnails(), by: wisher)
        try await test.until { [test, ids] in ids.allSatisfy { test.hasBegun("/t/\($0)") } }
        #expect(try ids.allSatisfy { try !test.photo($0).thumbnail.isCurrent })
        // A hanging photo and a hanging list are cancelled meanwhile.
        let hung = Gate()
        defer { hung.open() }
        for path in ["/p/n0", "/index.xml"] { test.put(path, [.hold(hung)]) }
        let photo = try test.full("n0")
        let viewer = test.wishes.makeWisher()
        test.wishes.state([Wish(photo, importance: .lookedAt)], by: viewer)
        test.wishes.ask(for: test.list)
        try await test.until { [test] in try test.activity.progress(of: photo) != nil && test.status.isRunning }
        test.wishes.withdraw(viewer)
        test.wishes.stop(test.list)
        try await test.until { [test] in
            try test.activity.progress(of: photo) == nil && test.status.state == .cancelled
        }
        #expect(!gate.isOpen && !hung.isOpen)
        gate.open()
        try await test.until { [test, ids] in try ids.allSatisfy { try test.photo($0).thumbnail.isCurrent } }
    }

    @Test("BEHAVIOURS 5.1: hanging transfers do not block parsing and storing a list")
    func hungTransfers() async throws {
        test.putGallery(ids)
        test.start(test.makeController(governor: AdaptiveGovernor()))
        try await test.refresh()
        let gate = Gate()
        defer { gate.open() }
        for id in ids { test.put("/t/\(id)", [.hold(gate)]) }
        test.wishes.state(try thumbnails(), by: test.wishes.makeWisher())
        try await test.until { [test, ids] in ids.count { test.hasBegun("/t/\($0)") } >= 8 }
        test.put("/index.xml", .answer(200, "<album/>"))
        try await test.refresh()
        #expect(try test.cache.read { try $0.gallery().photoCount } == 0 && !gate.isOpen)
        // They are not needed any more.
        try await test.until { [test] in test.cancellations >= 8 }
    }
}
