import Foundation
import TestSupport
import Testing

/// Pictures in a tmux, which several terminals may view in turn.
@Suite(.ownThread, .serialized) struct TmuxFocusTests {
    private let home = Household()

    /// Returns the pictures sent to the terminal around tmux.
    private func sent(_ session: TerminalSession) -> Int {
        String(decoding: session.bytes, as: UTF8.self).components(separatedBy: "\u{1B}_Ga=t,").count - 1
    }

    /// Runs a program in a tmux inside kitty.
    private func inTmux(_ words: String..., body: (TerminalSession) throws -> Void) throws {
        let folder = TestFolder()
        let socket = folder.path("tmux")
        let configuration = folder.write(
            "tmux.conf", "set -g status off\nset -g focus-events on\nset -g allow-passthrough on\n")
        let session = try TerminalSession(
            "/usr/bin/tmux", arguments: ["-S", socket, "-u", "-f", configuration, "new-session"] + words,
            environment: home.environment(), persona: .kitty)
        defer { _ = try? Command("/usr/bin/tmux", ["-S", socket, "kill-server"]) }
        try body(session)
    }

    /// Takes the focus from tmux's terminal and returns it, as if tmux were now attached to another terminal.
    private func moveFocus(_ session: TerminalSession) {
        session.type("\u{1B}[O")
        session.untilQuiet(milliseconds: 200)
        session.type("\u{1B}[I")
    }

    @Test("A terminal that attaches to tmux receives the visible pictures")
    func picturesAreSentAgain() throws {
        try inTmux(Built.vitrine, "--pixels=auto", Built.testGallery) { session in
            #expect(session.until { $0.text.contains("Updated:") })
            #expect(session.until { _ in sent(session) > 3 })
            session.untilQuiet()
            let (before, kept) = (sent(session), session.screen.pictures.kept.count)
            moveFocus(session)
            #expect(session.until { _ in sent(session) >= before + kept })
            session.untilQuiet()
            // Earlier pictures are forgotten.
            #expect(session.screen.pictures.kept.count == kept)
            session.type("Q")
            _ = session.wait()
        }
    }

    @Test("A terminal without pictures that attaches to tmux receives characters")
    func silentTerminal() throws {
        let log = home.folder.path("log")
        /// Returns the last finding about pixels in the log.
        func pixels() -> String {
            let lines = (try? String(contentsOfFile: log, encoding: .utf8))?.split(separator: "\n") ?? []
            return lines.last { $0.contains(" screen pixels: ") }.map(String.init) ?? ""
        }
        try inTmux(
            Built.vitrine, "--pixels=auto", "--log-level=debug", "--log-file", log, Built.testGallery
        ) { session in
            #expect(session.until { $0.text.contains("Updated:") })
            #expect(session.until { _ in sent(session) > 3 })
            session.untilQuiet()
            session.persona = .alacritty
            moveFocus(session)
            for _ in 0..<600 where !pixels().contains("pixels: none") { session.untilQuiet(milliseconds: 50) }
            #expect(pixels().contains("pixels: none"), "\(pixels())")
            session.untilQuiet()
            #expect(session.screen.pictures.kept.isEmpty)
            session.persona = .kitty
            moveFocus(session)
            #expect(session.until { !$0.pictures.kept.isEmpty })
            session.type("Q")
            _ = session.wait()
        }
    }

    /// After a split, the active pane, which receives the answers, is a shell's.
    @Test("After a resize, the terminal around tmux receives no queries")
    func resizedPane() throws {
        try inTmux(Built.vitrine, "--pixels=auto", Built.testGallery) { session in
            #expect(session.until { $0.text.contains("Updated:") })
            #expect(session.until { _ in sent(session) > 3 })
            session.untilQuiet()
            func kittyQueries() -> Int { session.screen.questions.count { $0.hasPrefix("APC G") } }
            let before = kittyQueries()
            session.resize(columns: 90, rows: 30)
            #expect(session.until { $0.text.contains("Updated:") })
            session.untilQuiet()
            #expect(before > 0 && kittyQueries() == before)
            moveFocus(session)
            #expect(session.until { _ in kittyQueries() == before + 1 })
            session.type("Q")
            _ = session.wait()
        }
    }

    @Test("vitrine show draws a picture between the lines before and after it")
    func shownPicture() throws {
        let script =
            #"echo start; read line; echo before; "$0" show --pixels=kitty --size=20x6 "$1"; echo after; read line"#
        try inTmux("/bin/sh", "-c", script, Built.vitrine, Built.testGallery + "/images/owl.jpg") { session in
            // While tmux starts, it drops the sequences that it should pass on.
            #expect(session.until(shows: "start"))
            session.untilQuiet()
            session.type("\n")
            try #require(session.until(shows: "after"))
            session.untilQuiet()
            let screen = session.screen
            let rows = (0..<screen.rows).filter { screen.text(inRow: $0).unicodeScalars.contains("\u{10EEEE}") }
            let (first, last) = (try #require(rows.first), try #require(rows.last))
            #expect(rows == Array(first...last) && screen.text(inRow: first - 1) == "before")
            #expect(screen.text(inRow: last + 1) == "after")
            #expect(screen.pictures.ready.count == 1 && screen.pictures.floating.isEmpty)
            #expect(!screen.violations.contains { $0.hasPrefix("kitty") }, "\(screen.violations)")
        }
    }
}
