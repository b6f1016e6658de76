import Foundation
import Logging
import Model
import TestSupport
import Testing

@testable import Cache

/// A browser and an update, or two updates, that share a cache.
@Suite(.ownThread, .serialized) struct TwoProgramsTests {
    /// The number of rounds; `VITRINE_KILLS=300` for more.
    private let rounds = Int(ProcessInfo.processInfo.environment["VITRINE_KILLS"] ?? "").map { min($0, 300) } ?? 10

    @Test("BEHAVIOURS 2.1: the second of two updates waits, and nothing is fetched twice")
    func twoUpdates() throws {
        let server = try Nginx(serving: Built.testGallery)
        let home = Household()
        let gallery = server.url("/index.xml")
        // Both run before one has progressed far.
        let updates = try (0..<3).map { _ in
            try ChildProcess(Built.vitrine, ["sync", "--photos", gallery], environment: home.environment())
        }
        #expect(updates.map { $0.wait() } == [0, 0, 0])
        let paths = try server.paths()
        #expect(paths.count { $0 == "/index.xml" } == 3)
        #expect(paths.count == 3 + 2 * 28 && Set(paths).count == 1 + 2 * 28)
    }

    @Test("An update whose list has arrived succeeds, even if another program then cannot read the list")
    func anotherFails() async throws {
        let (home, isListed, isRecorded) = (Household(), Gate(), Gate())
        let picture = [UInt8](try Data(contentsOf: URL(fileURLWithPath: Built.testGallery + "/images/tiny.jpg")))
        let server = try ScriptedServer { request in
            guard request.path == "/index.xml" else {
                return [.open(isListed), .hold(isRecorded)] + .answer(200, picture)
            }
            return .answer(
                200,
                "<album><photo id=\"a\" name=\"Lake\" date=\"2006-01-01T00:00:00Z\"><image kind=\"image\" srcURL=\"a\"/>"
                    + "<image kind=\"thumbnail\" srcURL=\"b\"/></photo></album>")
        }
        let address = try Address(server.url("/index.xml"))
        let sync = try ChildProcess(Built.vitrine, ["sync", address.text], environment: home.environment())
        #expect(isListed.wait(seconds: 60))
        let cache = try CacheFolder(path: home.caches, log: Log()).open(address)
        try await cache.writer.recordSyncFailure(Failure("the list ends too early", remedy: .time))
        isRecorded.open()
        #expect(sync.wait() == 0)
        #expect(try cache.read { try $0.counts() }.thumbnails == 1)
    }

    @Test("A gallery that another program updates does not keep the other galleries waiting")
    func busyGallery() throws {
        let (home, busy, free) = (Household(), Built.testGallery, Built.testGallery + "/index-big.xml")
        #expect(try home.vitrine("sync", "--list-only", busy).status == 0)
        let name = try #require(home.folder.entries(".cache/vitrine/galleries").first)
        let turn = open("\(home.caches)/galleries/\(name)", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        var isHeld = flock(turn, LOCK_EX) == 0
        defer { if isHeld { close(turn) } }
        try #require(isHeld)
        let session = try TerminalSession(
            arguments: ["sync", "--list-only", busy, free], columns: 200, environment: home.environment())
        let prints = { (count: Int) in
            String(decoding: session.bytes, as: UTF8.self).contains("\t\(count) photos")
        }
        #expect(session.until { _ in prints(110) })
        #expect(session.until(shows: "waiting for another process") && !prints(28))
        close(turn)
        isHeld = false
        #expect(session.wait() == 0 && prints(28), "\(session.screen.text)")
    }

    /// The turn ends with its program.
    @Test func killedUpdateBlocksNoOther() throws {
        let gallery = try SmallGallery()
        let stopped = Faults(in: gallery.home.caches, .kill(at: 200))
        #expect(try gallery.sync(stopped).status == -SIGKILL)
        #expect(try gallery.sync().text.hasSuffix(SmallGallery.everything))
    }

    @Test("BEHAVIOURS 4.4: after one of two programs is killed, the other continues with a whole cache")
    func oneOfTwoIsKilled() async throws {
        var answers: [Double] = []
        var sights: [Double] = []
        for round in 0..<rounds {
            let gallery = try SmallGallery()
            if Bool.random() {
                _ = try gallery.sync()
                try FileManager.default.removeItem(atPath: gallery.log)
            }
            let session = try TerminalSession(
                arguments: ["--row-height=2", gallery.path], environment: gallery.home.environment())
            #expect(session.until { $0.text.contains("1 of 10") && $0.text.contains("Updated: ") }, "round \(round)")
            try gallery.serve(.after)
            let complaints = gallery.home.folder.write("complaints", "")
            let errors = open(complaints, O_WRONLY | O_CLOEXEC)
            defer { close(errors) }
            let complained = { (try? String(contentsOfFile: complaints, encoding: .utf8)) ?? "" }
            let sync = try ChildProcess(
                Built.vitrine,
                ["sync", "--photos", "--log-level=debug", "--log-file=\(gallery.log)", gallery.path],
                environment: gallery.home.environment(), errors: errors)
            poll(nil, 0, Int32.random(in: 0..<200))
            if Bool.random() {
                sync.end(SIGKILL)
                session.untilQuiet(milliseconds: 50)
                let start = ContinuousClock.now
                session.type("G")
                #expect(session.until(shows: "10 of 10"), "round \(round): \(session.screen.text)")
                answers.append((ContinuousClock.now - start) / .milliseconds(1))
                session.type("Q")
                #expect(session.wait() == 0, "round \(round)")
            } else if Bool.random() {
                kill(session.process, SIGKILL)
                #expect(session.wait() == -SIGKILL)
                #expect(sync.wait() == 0, "round \(round): \(complained())")
            } else {
                // Neither was killed: each sees the other's data.
                #expect(sync.wait() == 0, "round \(round): \(complained())")
                let start = ContinuousClock.now
                #expect(session.until(shows: "Two eggs, white") && session.until(shows: "of 10"), "round \(round)")
                #expect(session.until { !$0.text.contains("Last light ") }, "round \(round)")
                sights.append((ContinuousClock.now - start) / .milliseconds(1))
                session.type("Q")
                #expect(session.wait() == 0, "round \(round)")
            }
            try await gallery.aftermath.expectWhole(
                gallery.address, ids: [try SmallGallery.ids(.before), try SmallGallery.ids(.after)], "round \(round)")
            let next = try gallery.sync()
            #expect(next.status == 0 && next.text.hasSuffix(SmallGallery.everything), "round \(round): \(next.errors)")
        }
        print(
            "SEEN: \(rounds) rounds; keys answered within \(answers.max() ?? 0) ms, changes seen \(sights.max() ?? 0) ms after"
        )
    }
}
