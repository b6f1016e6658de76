import Foundation
import TestSupport
import Testing

/// The program's effects on the terminal at start, suspension, resumption and end.
@Suite(.ownThread, .serialized) struct LifeTests {
    private let home = Household()

    private func browse(_ arguments: String..., columns: Int = 80, rows: Int = 24) throws -> TerminalSession {
        try TerminalSession(
            arguments: arguments, columns: columns, rows: rows, environment: home.environment())
    }

    /// Opens the TestGallery's list with everything loaded.
    private func browseTestGallery() throws -> TerminalSession {
        let session = try browse(Built.testGallery)
        try #require(session.until { $0.text.contains("Updated:") && $0[1, 1].text == "▀" && $0[1, 19].text == "▀" })
        session.untilQuiet()
        return session
    }

    @Test func mouseWorksUnlessDisabled() throws {
        let session = try browseTestGallery()
        #expect(session.screen.modes.isSuperset(of: [1002, 1006]))
        // Two clicks on the third photo's row open it.
        let row = try #require((1..<23).first { session.screen.text(inRow: $0).contains("▌") }) + 6
        let name = session.screen.text(inRow: row)
        let click = "\u{1B}[<0;40;\(row + 1)M\u{1B}[<0;40;\(row + 1)m"
        session.type(click)
        try #require(session.until { $0.text(inRow: row).contains("▌") })
        session.type(click)
        let title = try #require(name.split(separator: " ").map(String.init).last { $0.count > 1 })
        #expect(session.until { $0.text(inRow: 0).contains(title) && $0.text(inRow: 0).hasSuffix("· fit") })
        session.type("Q")
        #expect(session.wait() == 0)
        #expect(session.screen.modes.isDisjoint(with: [1002, 1006]))
        let other = try browse("--mouse=no", Built.testGallery)
        // The second start continues where the first one ended.
        try #require(other.until { $0.text(inRow: 0).hasSuffix("· fit") })
        #expect(other.screen.modes.isDisjoint(with: [1002, 1006]) && other.screen.modes.contains(1004))
    }

    @Test("BEHAVIOURS 6.1: a new user sees the list of galleries with the TestGallery")
    func firstRun() throws {
        let session = try browse()
        #expect(session.until(shows: "TestGallery"))
        #expect(session.screen.text(inRow: 0).contains("Galleries"))
        #expect(session.screen.text.contains("built in, never opened"))
        session.type("\r")
        #expect(session.until(shows: "Dawn over the ridge"))
        session.type("Q")
        #expect(session.wait() == 0)
    }

    @Test func quittingGivesTheTerminalBack() throws {
        let session = try browse(Built.testGallery)
        #expect(session.until(shows: "Dawn over the ridge"))
        #expect(session.screen.isAlternate && session.modes.c_lflag != session.original.c_lflag)
        session.type("Q")
        #expect(session.wait() == 0)
        session.expectRestored()
    }

    /// Uses a shell with job control. Suspends twice, since the second time differs; then crashes.
    @Test func suspendedAndContinued() throws {
        let script = """
            "$0" "$1"; echo "stopped with $?"; read -r go; fg >/dev/null; echo "stopped with $?"; read -r go
            fg >/dev/null; echo "ended with $?"
            """
        let session = try TerminalSession(
            "/bin/sh", arguments: ["-m", "-c", script, Built.vitrine, Built.testGallery],
            environment: home.environment())
        #expect(session.until { $0.text.contains("Updated:") && $0[1, 1].text == "▀" && $0[1, 19].text == "▀" })
        session.untilQuiet()
        let shown = session.screen.allCells
        for round in 1...2 {
            session.type("\u{1A}")
            // The shell's earlier output reappears before its new output.
            #expect(session.until { $0.text.split(separator: "stopped with 148").count == round + 1 })
            session.expectRestored()
            session.type("\n")
            session.expectShows(shown)
        }
        let vitrine = try #require(session.foregroundProcess)
        kill(vitrine, SIGABRT)
        #expect(session.until(shows: "ended with \(128 + SIGABRT)"))
        session.expectRestored()
    }

    /// The shell's `wait` returns when the job is stopped.
    @Test func inTheBackgroundItStopsAgain() throws {
        let script = """
            "$0" "$1" & wait; echo "stopped at first"; read -r go; fg >/dev/null; echo "stopped by key"
            bg >/dev/null; wait; echo "stopped again"; read -r go; fg >/dev/null; echo "ended with $?"
            """
        let session = try TerminalSession(
            "/bin/sh", arguments: ["-m", "-c", script, Built.vitrine, Built.testGallery],
            environment: home.environment())
        try #require(session.until(shows: "stopped at first"))
        session.expectRestored()
        session.type("\n")
        try #require(session.until { $0.text.contains("Updated:") && $0[1, 1].text == "▀" && $0[1, 19].text == "▀" })
        session.untilQuiet()
        let shown = session.screen.allCells
        session.type("\u{1A}")
        try #require(session.until(shows: "stopped again"))
        session.expectRestored()
        session.type("\n")
        session.expectShows(shown)
        session.type("Q")
        #expect(session.until(shows: "ended with 0"))
        session.expectRestored()
    }

    @Test func endedWhileItIsStopped() throws {
        let script = """
            "$0" "$1"; kill -s TERM %1; bg >/dev/null; wait %1; echo "ended with $?"
            """
        let session = try TerminalSession(
            "/bin/sh", arguments: ["-m", "-c", script, Built.vitrine, Built.testGallery],
            environment: home.environment())
        try #require(session.until(shows: "Updated:"))
        session.type("\u{1A}")
        #expect(session.until(shows: "ended with \(128 + SIGTERM)"))
        session.expectRestored()
    }

    /// Without a shell to resume it, Vitrine does not stop.
    @Test func withoutAShellItIsNotSuspended() throws {
        let session = try browseTestGallery()
        let (shown, before) = (session.screen.allCells, session.bytes.count)
        session.type("\u{1A}")
        #expect(
            session.until { _ in
                let text = String(decoding: session.bytes[before...], as: UTF8.self)
                return text.contains("\u{1B}[?1049l") && text.contains("\u{1B}[?1049h")
            })
        session.expectShows(shown)
        session.type("Q")
        #expect(session.wait() == 0)
    }

    /// Vitrine drops a frame that is cut off by the exit, and the next one does not wait for it.
    @Test func suspendedWhileAFrameWaits() throws {
        let session = try TerminalSession(
            arguments: [Built.testGallery], columns: 250, rows: 80, environment: home.environment(term: "linux"))
        #expect(session.until { $0.text.contains("Updated:") && $0[1, 1].text == "▀" })
        session.untilQuiet()
        session.type("\r")
        #expect(session.until(shows: "1 of 28 · fit"))
        session.untilQuiet()
        // Each frame is larger than the slow terminal accepts.
        session.type(["\u{0C}", "\u{0C}", "\u{0C}", "\u{1A}"], perSecond: 10, bytesPerSecond: 1_000)
        session.untilQuiet()
        session.type("q")
        #expect(session.until(shows: "Updated:"))
        session.type("Q")
        #expect(session.wait() == 0)
    }

    @Test func stoppedByForceAndContinued() throws {
        let session = try browseTestGallery()
        let (shown, raw) = (session.screen.allCells, session.modes)
        kill(session.process, SIGSTOP)
        var status: Int32 = 0
        #expect(waitpid(session.process, &status, WUNTRACED) == session.process && status & 0xFF == 0x7F)
        // The test changes the terminal like a shell.
        var cooked = raw
        cooked.c_lflag |= tcflag_t(ICANON | ECHO)
        session.modes = cooked
        session.screen.write(Array("\u{1B}[?1049l$ ".utf8)[...])
        kill(session.process, SIGCONT)
        session.expectShows(shown)
        #expect(session.modes.c_lflag == raw.c_lflag)
    }

    /// The user quits while a large frame is being written.
    @Test func quittingInTheMiddleOfAFrame() throws {
        let session = try TerminalSession(
            arguments: [Built.testGallery], columns: 250, rows: 80,
            environment: home.environment(term: "xterm-256color", ["COLORTERM": "truecolor"]))
        #expect(session.until { $0.text.contains("Updated:") && $0[1, 1].text == "▀" })
        session.untilQuiet()
        session.type("\r")
        #expect(session.until(shows: "1 of 28 · fit"))
        session.untilQuiet()
        session.type("\u{0C}Q")
        #expect(session.wait() == 0)
        session.expectRestored()
    }

    /// Mistakes before the screen opens are printed and leave the terminal alone.
    @Test func mistakesAreSaidOnATerminalToo() throws {
        let session = try browse("ftp://example.org/gallery.xml")
        #expect(session.wait() == 2)
        #expect(session.screen.text.contains("vitrine: ") && !session.screen.text.contains("\u{1B}"))
    }

    @Test func windowChangesItsSize() throws {
        let session = try browseTestGallery()
        for (columns, rows) in [(200, 60), (40, 12), (20, 5), (10, 3), (80, 24)] {
            session.resize(columns: columns, rows: rows)
            let expected = columns < 20 ? "Too small" : "Dawn over"
            #expect(session.until { $0.text.contains(expected) }, "\(columns)×\(rows): \(session.screen.text)")
        }
        session.untilQuiet()
        let (shown, before) = (session.screen.allCells, session.bytes.count)
        session.type("\u{0C}")
        // Redrawing writes every cell, so the output is large.
        #expect(session.until { _ in session.bytes.count > before + 1_000 })
        session.expectShows(shown)
        #expect(session.screen.violations.isEmpty)
    }

    @Test("BEHAVIOURS 6.3: gallery, photo and selection are restored")
    func placeIsRestored() throws {
        do {
            let session = try browse(Built.testGallery)
            #expect(session.until(shows: "1 of 28"))
            session.type("jjjj")
            #expect(session.until(shows: "5 of 28"))
            session.type("Q")
            #expect(session.wait() == 0)
        }
        do {
            let session = try browse()
            #expect(session.until(shows: "5 of 28"))
            session.type("\r")
            #expect(session.until(shows: "5 of 28 · fit"))
            session.type("Q")
            #expect(session.wait() == 0)
        }
        let session = try browse()
        #expect(session.until(shows: "5 of 28 · fit"))
        #expect(session.screen.text(inRow: 0).contains("Hills in the mist"))
        session.type("q")
        #expect(session.until(shows: "5 of 28"))
    }

    @Test func withoutATerminalThereIsNoScreen() throws {
        let command = try home.vitrine(Built.testGallery)
        #expect(command.status == 3 && command.errors.contains("needs a terminal"))
        let session = try TerminalSession(
            arguments: [Built.testGallery], environment: home.environment(term: "no-such-terminal"))
        #expect(session.wait() == 3)
        #expect(String(decoding: session.bytes, as: UTF8.self).contains("no-such-terminal"))
    }

    /// With everything loaded and no events, the program, its fetcher and its decoders do nothing.
    @Test func asleepItDoesNothing() throws {
        let server = try Nginx(serving: Built.testGallery)
        // This terminal answers all queries at once, so that none are pending.
        let session = try TerminalSession(
            arguments: [server.url("/index.xml")], environment: home.environment(), persona: .alacritty)
        try #require(session.until { $0.text.contains("Updated:") && $0[1, 1].text == "▀" && $0[1, 19].text == "▀" })
        session.untilQuiet()
        let folder = TestFolder()
        let processes = [session.process] + Processes.descendants(of: session.process)
        // Idle threads end after five seconds, before the ten seconds that count.
        _ = try Command(
            "/usr/bin/timeout",
            ["-s", "INT", "17", "/usr/bin/strace", "-f", "-ttt", "-o", folder.path("calls")]
                + processes.flatMap { ["-p", "\($0)"] })
        let lines = try String(contentsOfFile: folder.path("calls"), encoding: .utf8).split(separator: "\n")
        let times = lines.compactMap { Double($0.split(separator: " ").dropFirst().first ?? "") }
        // A plain user can trace only the process with the screens.
        let traced = Set(lines.compactMap { pid_t($0.split(separator: " ").first ?? "") })
        #expect(traced.isSuperset(of: geteuid() == 0 ? processes : [session.process]))
        let first = try #require(times.first)
        let late = zip(lines, times).filter { $0.1 > first + 6.5 && !$0.0.contains("detached") }
        #expect(late.isEmpty, "\(late.map(\.0).joined(separator: "\n"))")
        #expect(session.screen.text.contains("Updated:"))
        session.type("Q")
        #expect(session.wait() == 0)
    }
}
