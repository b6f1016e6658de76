import Foundation
import TestSupport
import Testing

/// A user who does everything at once: in the end the screen equals a fresh one.
@Suite(.ownThread, .serialized) struct StormTests {
    private let home = Household()

    /// Opens the TestGallery's list with everything loaded.
    private func browse(_ arguments: [String] = [Built.testGallery]) throws -> TerminalSession {
        let session = try TerminalSession(arguments: arguments, environment: home.environment())
        try #require(session.until { $0.text.contains("Updated:") && $0[1, 1].text == "▀" && $0[1, 19].text == "▀" })
        session.untilQuiet()
        return session
    }

    /// Redraws the screen and compares it with the previous one.
    private func expectFresh(_ session: TerminalSession) {
        session.untilQuiet()
        let (shown, before) = (session.screen.allCells, session.bytes.count)
        session.type("\u{0C}")
        #expect(session.until { _ in session.bytes.count > before + shown.count * 4 })
        session.expectShows(shown)
        #expect(session.screen.violations.isEmpty, "\(session.screen.violations.prefix(3))")
    }

    @Test func twoHundredSizes() throws {
        let session = try browse()
        var numbers = SeededNumbers(seed: 1)
        for round in 0..<200 {
            session.resize(
                columns: Int.random(in: 1...220, using: &numbers), rows: Int.random(in: 1...70, using: &numbers))
            // Some keys leave time to draw; most do not.
            if round % 10 == 0 { session.until(seconds: 0.02) { _ in false } }
        }
        session.resize(columns: 80, rows: 24)
        #expect(session.until { $0.text(inRow: 23).contains("Updated:") })
        expectFresh(session)
    }

    /// Runs in a shell with job control.
    @Test func fiftyTimesStoppedAndContinued() throws {
        let script = """
            "$0" "$1"; for round in $(seq 50); do echo "stopped $round."; read -r go; fg >/dev/null; done; echo "ended with $?"
            """
        let session = try TerminalSession(
            "/bin/sh", arguments: ["-m", "-c", script, Built.vitrine, Built.testGallery],
            environment: home.environment())
        try #require(session.until { $0.text.contains("Updated:") && $0[1, 1].text == "▀" && $0[1, 19].text == "▀" })
        for round in 1...50 {
            session.type("\u{1A}")
            try #require(session.until(shows: "stopped \(round)."))
            session.type("\n")
            try #require(session.until { $0.isAlternate && $0.text.contains("Updated:") }, "\(round)")
        }
        expectFresh(session)
        session.type("Q")
        #expect(session.until(shows: "ended with 0"))
        session.expectRestored()
    }
}
