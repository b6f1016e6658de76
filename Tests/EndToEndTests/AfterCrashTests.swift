import Foundation
import TestSupport
import Testing

/// The start after a crash: a gallery that crashes Vitrine must not lock the user out.
@Suite(.ownThread, .serialized) struct AfterCrashTests {
    private let home = Household()
    private let server: ScriptedServer
    /// The beginning of the notice.
    private static let notice = "Vitrine ended unexpectedly"

    init() throws {
        server = try ScriptedServer { request in
            let list =
                "<album><photo id=\"1\" name=\"Only one\" date=\"2006-01-01T00:00:00Z\">"
                + "<image kind=\"image\" srcURL=\"p/1\"/><image kind=\"thumbnail\" srcURL=\"t/1\"/></photo></album>"
            return request.path.hasSuffix(".xml") ? .answer(200, list) : .answer(404)
        }
    }

    private func browse(_ arguments: String..., environment: [String: String] = [:]) throws -> TerminalSession {
        try TerminalSession(
            arguments: arguments, environment: home.environment().merging(environment) { $1 })
    }

    /// Opens the gallery and waits until everything is requested.
    ///
    /// - Parameter status: the expected status line.
    private func open(_ environment: [String: String] = [:], status: String = "Updated:") throws -> TerminalSession {
        let session = try browse(server.url("/index.xml"), environment: environment)
        try #require(session.until(shows: "Only one"))
        try #require(session.until(shows: status))
        session.untilQuiet()
        return session
    }

    /// Starts without an argument and waits for the first frame and for automatic work.
    private func startAgain() throws -> TerminalSession {
        let session = try browse()
        try #require(session.until { !$0.text(inRow: 0).isEmpty })
        session.untilQuiet()
        return session
    }

    private var marks: [String] { home.folder.entries(".local/state/vitrine/running") }

    @Test(
        "After a crash Vitrine starts in the list of galleries, says so, and fetches nothing until a gallery is opened",
        arguments: [SIGKILL, SIGILL])
    func startsInTheListOfGalleries(signal: Int32) throws {
        // The other gallery is not cached and its interval has passed, so a normal start would fetch it.
        home.folder.write(
            ".config/vitrine/galleries", "\(server.url("/index.xml"))\n\(server.url("/other.xml"))\tevery 30m\n")
        let first = try open()
        try #require(server.requests.contains { $0.path == "/other.xml" })
        try FileManager.default.removeItem(atPath: home.caches)
        kill(first.process, signal)
        #expect(first.wait() == -signal)
        let count = server.requests.count

        let second = try startAgain()
        #expect(second.screen.text(inRow: 0).contains("Galleries"), "\(second.screen.text)")
        #expect(second.screen.text.contains(Self.notice), "\(second.screen.text)")
        #expect(server.requests.count == count)
        second.type("j")
        second.untilQuiet()
        #expect(server.requests.count == count)
        // The first gallery comes with Vitrine.
        second.type("\r")
        #expect(second.until { $0.text.contains("Only one") && $0.text.contains("Updated:") })
        second.untilQuiet()
        // From now on everything works as usual.
        #expect(server.requests[count...].contains { $0.path == "/other.xml" })
        second.type("Q")
        #expect(second.wait() == 0)

        let third = try startAgain()
        #expect(third.screen.text.contains("Only one") && !third.screen.text.contains(Self.notice))
        third.type("Q")
        #expect(third.wait() == 0 && marks.isEmpty)
    }

    @Test("After a crash r in the list of galleries updates, and intervals work again")
    func refreshing() throws {
        home.folder.write(".config/vitrine/galleries", "\(server.url("/other.xml"))\tevery 30m\n")
        let first = try open()
        try FileManager.default.removeItem(atPath: home.caches)
        kill(first.process, SIGKILL)
        _ = first.wait()
        let count = server.requests.count
        let second = try startAgain()
        #expect(server.requests.count == count)
        second.type("r")
        #expect(second.until(shows: "Updating"))
        second.untilQuiet()
        #expect(server.requests[count...].contains { $0.path == "/other.xml" })
        second.type("Q")
        #expect(second.wait() == 0)
    }

    @Test("After a crash the list of galleries shows the open gallery, though the user has not added it")
    func unlisted() throws {
        let first = try open()
        // Vitrine saves the place within a second.
        let places = home.folder.path(".local/state/vitrine/places")
        for _ in 0..<600 where !FileManager.default.fileExists(atPath: places) {
            first.untilQuiet(milliseconds: 100)
        }
        kill(first.process, SIGKILL)
        _ = first.wait()
        let second = try startAgain()
        #expect(second.screen.text.contains(Self.notice), "\(second.screen.text)")
        #expect(second.screen.text.contains("not in the list: press a to add it"), "\(second.screen.text)")
        second.type("Q")
        #expect(second.wait() == 0)
    }

    @Test("A named gallery opens after a crash, with a notice")
    func named() throws {
        let first = try open()
        kill(first.process, SIGKILL)
        _ = first.wait()
        let second = try browse(server.url("/index.xml"))
        #expect(second.until { $0.text.contains("Only one") && $0.text.contains(Self.notice) })
        second.type("Q")
        #expect(second.wait() == 0)
    }

    @Test("A normal end is no crash", arguments: [SIGTERM, SIGHUP, SIGINT, 0])
    func orderlyEnds(signal: Int32) throws {
        let first = try open()
        if signal == 0 { first.type("Q") } else { kill(first.process, signal) }
        #expect(first.wait() == (signal == 0 ? 0 : 128 + signal))
        #expect(marks.isEmpty)
        let second = try startAgain()
        #expect(second.screen.text.contains("Only one") && !second.screen.text.contains(Self.notice))
        second.type("Q")
        #expect(second.wait() == 0)
    }

    @Test("One crash of two running programs is noticed once, and the other program is ignored")
    func twoAtOnce() throws {
        let (living, dying) = (try open(), try open())
        kill(dying.process, SIGKILL)
        _ = dying.wait()
        let third = try startAgain()
        #expect(third.screen.text.contains(Self.notice))
        third.type("Q")
        #expect(third.wait() == 0)
        #expect(marks.count == 1)
        let fourth = try browse(server.url("/index.xml"))
        try #require(fourth.until(shows: "Only one"))
        fourth.untilQuiet()
        #expect(!fourth.screen.text.contains(Self.notice))
        for session in [fourth, living] {
            session.type("Q")
            #expect(session.wait() == 0)
        }
        #expect(marks.isEmpty)
    }

    @Test("A mark from an earlier boot is no crash")
    func powerWasLost() throws {
        let first = try open()
        kill(first.process, SIGKILL)
        _ = first.wait()
        // The files look as if they were from another boot.
        let boot = try String(contentsOfFile: "/proc/sys/kernel/random/boot_id", encoding: .utf8)
            .trimmingCharacters(in: .whitespacesAndNewlines)
        let mark = try #require(marks.first)
        #expect(marks.count == 1 && mark.contains(boot))
        let folder = home.folder.path(".local/state/vitrine/running/")
        try FileManager.default.moveItem(
            atPath: folder + mark,
            toPath: folder + mark.replacingOccurrences(of: boot, with: UUID().uuidString.lowercased()))
        let second = try startAgain()
        #expect(second.screen.text.contains("Only one") && !second.screen.text.contains(Self.notice))
        second.type("Q")
        #expect(second.wait() == 0 && marks.isEmpty)
    }

    @Test("Vitrine works where it cannot write a mark")
    func withoutState() throws {
        let environment = ["XDG_STATE_HOME": "/dev/null"]
        let first = try open(environment, status: "Lost when Vitrine ends: places")
        kill(first.process, SIGKILL)
        _ = first.wait()
        let second = try open(environment, status: "Lost when Vitrine ends: places")
        #expect(!second.screen.text.contains(Self.notice))
    }
}
