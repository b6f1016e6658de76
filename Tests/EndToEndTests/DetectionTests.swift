import Foundation
import TestSupport
import Testing

/// The findings about many kinds of terminals, whose state stays the same.
@Suite(.ownThread, .serialized) struct DetectionTests {
    private let home = Household()

    private func browse(
        _ arguments: String..., persona: Persona? = nil, term: String = "xterm-256color",
        _ variables: [String: String] = [:]
    ) throws -> TerminalSession {
        try TerminalSession(
            arguments: ["--log-level=debug", "--log-file", home.folder.path("log")] + arguments + [Built.testGallery],
            environment: home.environment(term: term, variables), persona: persona)
    }

    /// Returns the last findings in the log, by subject.
    private func findings() -> [String: String] {
        let log = (try? String(contentsOfFile: home.folder.path("log"), encoding: .utf8)) ?? ""
        var findings: [String: String] = [:]
        for line in log.split(separator: "\n") {
            for word in ["terminal", "pixels", "cell", "colours", "characters", "updates", "background"] {
                guard let range = line.range(of: " screen \(word): ") else { continue }
                findings[word] = String(line[range.upperBound...])
            }
        }
        return findings
    }

    /// Waits for findings in the log. Returns false if there are none.
    private func until(_ session: TerminalSession, _ condition: ([String: String]) -> Bool) -> Bool {
        for _ in 0..<600 where !condition(findings()) { session.untilQuiet(milliseconds: 50) }
        return condition(findings())
    }

    /// Returns the findings after the screen was drawn and left.
    private func findings(of session: TerminalSession) -> [String: String] {
        #expect(session.until { $0.text.contains("Updated:") })
        session.untilQuiet()
        session.type("Q")
        #expect(session.wait() == 0)
        return findings()
    }

    // MARK: - Kinds of terminals

    @Test func kitty() throws {
        let session = try browse("--pixels=auto", persona: .kitty)
        let found = findings(of: session)
        #expect(found["terminal"] == "kitty(0.35.2), as reported")
        #expect(found["pixels"] == "kitty graphics, supported by kitty")
        #expect(found["cell"] == "10 × 20 pixels, as reported" && found["background"] == "#1e1e2e, as reported")
        #expect(found["colours"] == "all, supported by kitty" && found["updates"] == "synchronized (mode 2026)")
    }

    @Test func foot() throws {
        let found = findings(of: try browse(persona: .foot))
        #expect(found["pixels"] == "sixel, as reported" && found["cell"] == "9 × 18 pixels, as reported")
        #expect(found["characters"]?.hasPrefix("all, including sextants") == true)
    }

    @Test func oneThatMisreports() throws {
        let found = findings(of: try browse(persona: .wezTerm))
        #expect(found["pixels"] == "iTerm2 images, supported by WezTerm")
    }

    @Test func oneWithoutPixels() throws {
        let found = findings(of: try browse(persona: .alacritty))
        #expect(
            found["pixels"] == "none: the terminal reports no support"
                && found["colours"] == "256, according to terminfo")
    }

    @Test func oneThatDoesNotAnswer() throws {
        let session = try browse()
        #expect(session.until { $0.text.contains("Updated:") })
        #expect(session.screen.questions.last == "CSI c")
        #expect(until(session) { $0["pixels"] == "none: the terminal does not answer" })
        // Vitrine does not ask again.
        let count = session.screen.questions.count
        session.type("\u{1B}[I")
        session.resize(columns: 90, rows: 30)
        #expect(session.until { $0.columns == 90 && $0.text.contains("Updated:") })
        session.untilQuiet()
        #expect(session.screen.questions.count == count)
        session.type("Q")
        #expect(session.wait() == 0)
    }

    @Test("Vitrine sends no queries to terminals unlike xterm", arguments: ["linux", "vt100", "vt220", "ansi"])
    func oldTerminals(kind: String) throws {
        let session = try browse(persona: .kitty, term: kind)
        session.screen.wrapsAtOnce = kind == "ansi"
        #expect(session.until { $0.text.contains("Updated:") })
        session.untilQuiet()
        #expect(session.screen.questions.isEmpty && !session.screen.text.contains("\u{1B}"))
        #expect(!session.bytes.contains(0x07))
        session.type("Q")
        #expect(session.wait() == 0)
        #expect(session.screen.questions.isEmpty)
        let probe = try TerminalSession(
            arguments: ["--version", "--verbose"], environment: home.environment(term: kind), persona: .kitty)
        #expect(probe.wait() == 0)
        #expect(
            probe.screen.questions.isEmpty
                && probe.screen.text.contains("pixels: none: Vitrine does not query this type of terminal"))
    }

    @Test("A terminal that cannot move the cursor gets no queries, only the reason why Vitrine ends")
    func dumbTerminal() throws {
        let session = try browse(persona: .kitty, term: "dumb")
        #expect(session.wait() == 3 && session.screen.questions.isEmpty)
        #expect(session.screen.text.hasPrefix("vitrine: The terminal “dumb” (TERM) cannot move the cursor"))
    }

    @Test func withoutALocaleThereIsASCIIAlone() throws {
        let session = try browse(persona: .alacritty, ["LANG": "C", "LC_ALL": "C"])
        #expect(session.until { $0.text.contains("Updated:") })
        session.untilQuiet()
        #expect(session.bytes.allSatisfy { $0 < 0x80 })
        session.type("Q")
        #expect(session.wait() == 0)
        #expect(findings()["characters"] == "ASCII only: the locale is not UTF-8")
    }

    // MARK: - Effects

    @Test func findingsAffectDrawing() throws {
        let session = try browse("--pixels=none", persona: .foot)
        // Only the answer reports all colours.
        #expect(session.until { screen in (0..<10).contains { screen[$0, 1].style.contains("8,2,") } })
        #expect(String(decoding: session.bytes, as: UTF8.self).contains("\u{1B}[?2026h"))
        session.type("Q")
        #expect(session.wait() == 0)
        #expect(!session.screen.modes.contains(2026) && !session.screen.isAlternate)
    }

    @Test func updatesAreMarkedForThoseAloneWhoKnowTheMarks() throws {
        let session = try browse(persona: Persona(version: "XTerm(379)", attributes: "64;1;2;6", synchronises: "0"))
        #expect(session.until { $0.text.contains("Updated:") })
        session.type("Q")
        #expect(session.wait() == 0)
        #expect(!String(decoding: session.bytes, as: UTF8.self).contains("\u{1B}[?2026h"))
    }

    @Test func settingsOverrideFindings() throws {
        let session = try browse("--pixels=none", "--colors=16", persona: .kitty)
        let found = findings(of: session)
        #expect(found["pixels"] == "none, as configured" && found["colours"] == "16, as configured")
        let text = String(decoding: session.bytes, as: UTF8.self)
        #expect(!text.contains("8;2;") && !text.contains("8;5;"))
    }

    /// A new window size or focus may mean cells of another size.
    @Test(arguments: ["\u{1B}[I", "resize"]) func cellsAreAskedForAgain(cause: String) throws {
        let session = try browse("--pixels=none", persona: .alacritty)
        #expect(session.until { $0.text.contains("Updated:") })
        session.untilQuiet()
        let count = session.screen.questions.count
        session.persona?.cell = "30;15"
        if cause == "resize" { session.resize(columns: 90, rows: 30) } else { session.type(cause) }
        #expect(until(session) { $0["cell"] == "15 × 30 pixels, as reported" })
        #expect(Array(session.screen.questions[count...]) == ["CSI 16t", "CSI 14t", "OSC 11;?", "CSI c"])
        session.type("Q")
        #expect(session.wait() == 0)
    }

    // MARK: - Replies are not keys

    /// Replies type nothing: the program still shows the first photo in the same screen.
    @Test(arguments: [Persona.kitty, .foot]) func repliesCutAtAnyByteAreNoKeys(persona: Persona) throws {
        let session = try browse("--pixels=none")
        #expect(session.until { $0.text.contains("1 of 28") })
        let answers = session.screen.questions.compactMap { persona.answer(to: $0) }
        #expect(answers.count > 4)
        for byte in answers.joined().utf8 {
            session.type(String(UnicodeScalar(byte)))
            // The answer takes longer than the wait for a key.
            session.untilQuiet(milliseconds: 40)
        }
        // The answer repeats after Vitrine stopped waiting.
        session.type(answers.joined())
        session.type("j")
        #expect(session.until { $0.text.contains("2 of 28") })
        session.untilQuiet()
        #expect(session.screen.text.contains("2 of 28") && session.screen.text.contains("Dawn over the ridge"))
        session.type("Q")
        #expect(session.wait() == 0)
    }

    @Test func forgedRepliesChangeNothing() throws {
        let session = try browse(persona: .alacritty)
        #expect(session.until { $0.text.contains("Updated:") })
        session.untilQuiet()
        let before = findings()
        for persona in [Persona.kitty, .foot, .wezTerm] {
            for question in ["CSI >q", "CSI 16t", "OSC 11;?", "CSI ?2026$p", "CSI ?1;1;0S", "APC Gi=31,a=q;", "CSI c"] {
                session.type(persona.answer(to: question) ?? "")
            }
        }
        session.type("j")
        #expect(session.until { $0.text.contains("2 of 28") })
        #expect(findings() == before)
        session.type("Q")
        #expect(session.wait() == 0)
    }

    /// Answers that arrive during the exit must not reach the shell.
    @Test func nothingIsLeftForTheShell() throws {
        let script = "\"$0\" \"$@\"; IFS= read -r line; echo \"left: ${#line}.\""
        for attempt in 1...5 {
            let session = try TerminalSession(
                "/bin/sh", arguments: ["-c", script, Built.vitrine, "--pixels=none", Built.testGallery],
                environment: home.environment())
            #expect(session.until { $0.text.contains("Dawn over the ridge") })
            let answers = session.screen.questions.compactMap { Persona.kitty.answer(to: $0) }.joined()
            let left = Date()
            session.type("Q")
            session.untilQuiet(milliseconds: 30)
            session.type(answers)
            // Vitrine waits a fifth of a second; on a busy machine the test may be late.
            let isInTime = Date().timeIntervalSince(left) < 0.1
            #expect(session.until { !$0.isAlternate })
            session.untilQuiet(milliseconds: 400)
            session.type("\n")
            #expect(session.until { $0.text.contains("left: ") })
            #expect(session.wait() == 0)
            if session.screen.text.contains("left: 0.") { return }
            #expect(attempt < 5 || !isInTime, "\(session.screen.text)")
        }
        Issue.record("something is left")
    }

    // MARK: - Without a screen

    private func version(
        _ arguments: String..., persona: Persona?, term: String = "xterm-256color", _ more: [String: String] = [:]
    ) throws -> TerminalSession {
        let session = try TerminalSession(
            arguments: ["--version", "--verbose"] + arguments, columns: 160,
            environment: home.environment(term: term, more), persona: persona)
        #expect(session.wait() == 0)
        var (now, then) = (session.modes, session.original)
        #expect(memcmp(&now, &then, MemoryLayout<termios>.size) == 0)
        #expect(session.screen.violations.isEmpty)
        return session
    }

    /// The answers wait in the terminal, so that they are never late.
    @Test("Transparent pictures are drawn over the terminal's background, which a pipe does not have")
    func backgroundOfShownPictures() throws {
        func show(_ rest: String) throws -> TerminalSession {
            let script = "IFS= read -r line; \"$0\" show --size=40x20 --pixels=none --colors=full \"$1\"\(rest)"
            let session = try TerminalSession(
                "/bin/sh", arguments: ["-c", script, Built.vitrine, Built.testGallery + "/images/alpha.png"],
                environment: home.environment(), echoes: false)
            session.type("\n\u{1B}]11;rgb:ffff/ffff/ffff\u{1B}\\\u{1B}[?6c")
            #expect(session.wait() == 0)
            return session
        }
        let direct = try show("")
        let text = String(decoding: direct.bytes, as: UTF8.self)
        #expect(direct.screen.questions.contains("OSC 11;?"))
        #expect(text.contains("48;2;255;255;255") && !text.contains("8;2;0;0;0"))
        let piped = try show(" | cat")
        #expect(piped.screen.questions.isEmpty && String(decoding: piped.bytes, as: UTF8.self).contains("8;2;0;0;0"))
    }

    @Test func versionPrintsFindings() throws {
        let session = try version(persona: .foot)
        for line in [
            "vitrine 0.1", "terminal: foot(1.16.2), as reported", "pixels: sixel, as reported",
            "cell: 9 × 18 pixels, as reported",
            "colours: all, supported by foot", "updates: synchronized (mode 2026)",
            "background: #242424, as reported",
        ] {
            #expect(session.screen.text.contains(line), "\(session.screen.text)")
        }
        #expect(
            try version("--pixels=kitty", persona: .foot).screen.text.contains("pixels: kitty graphics, as configured"))
        #expect(try version(persona: nil).screen.text.contains("pixels: none: the terminal does not answer"))
        // Without a terminal there are no queries.
        let piped = try home.vitrine("--version", "--verbose")
        #expect(piped.status == 0 && piped.text.contains("pixels: none: standard output is not a terminal"))
    }

    @Test func answersDoNotReachTheShell() throws {
        let session = try TerminalSession(
            "/bin/sh",
            arguments: [
                "-c", "\"$0\" --version --verbose; IFS= read -r line; echo \"left: ${#line}.\"", Built.vitrine,
            ],
            environment: home.environment(), persona: .kitty)
        #expect(session.until { $0.text.contains("background: #1e1e2e") })
        session.type("\n")
        #expect(session.until { $0.text.contains("left: ") })
        #expect(session.screen.text.contains("left: 0."), "\(session.screen.text)")
    }

    // MARK: - Multiplexers

    /// Returns the findings in a tmux inside kitty.
    private func findings(inTmux options: String, _ persona: Persona = .kitty) throws -> [String: String] {
        let folder = TestFolder()
        let socket = folder.path("tmux")
        let configuration = folder.write("tmux.conf", "set -g status off\nset -g focus-events on\n\(options)\n")
        let session = try TerminalSession(
            "/usr/bin/tmux",
            arguments: [
                "-S", socket, "-u", "-f", configuration, "new-session", Built.vitrine, "--log-level=debug",
                "--log-file",
                home.folder.path("log"), "--pixels=auto", Built.testGallery,
            ],
            environment: home.environment(), persona: persona)
        defer { _ = try? Command("/usr/bin/tmux", ["-S", socket, "kill-server"]) }
        #expect(session.until { $0.text.contains("Updated:") })
        // Wait until Vitrine has an answer or gives up.
        #expect(until(session) { $0["pixels"].map { !$0.contains("not answer") } ?? false })
        session.untilQuiet(milliseconds: 2_500)
        // The first photo is still selected in the list.
        #expect(session.screen.text.contains("1 of 28"), "\(session.screen.text)")
        session.type("Q")
        _ = session.wait()
        return findings()
    }

    @Test func tmuxThatPassesNothingOn() throws {
        let found = try findings(inTmux: "")
        #expect(found["terminal"]?.hasPrefix("tmux ") == true, "\(found)")
        #expect(found["pixels"] == "none: tmux has no support and passes nothing on (allow-passthrough)")
    }

    @Test func tmuxThatPassesPicturesOn() throws {
        let found = try findings(inTmux: "set -g allow-passthrough on")
        #expect(found["pixels"] == "kitty graphics, passed on by tmux to kitty(0.35.2)", "\(found)")
    }

    @Test func tmuxInATerminalThatTakesNoPictures() throws {
        let found = try findings(inTmux: "set -g allow-passthrough on", .alacritty)
        #expect(found["pixels"] == "none: tmux has no support and passes nothing on (allow-passthrough)")
    }

    @Test func screen() throws {
        let session = try TerminalSession(
            "/usr/bin/screen",
            arguments: [
                "-U", "-c", "/dev/null", Built.vitrine, "--log-level=debug", "--log-file", home.folder.path("log"),
                Built.testGallery,
            ],
            environment: home.environment(["SCREENDIR": home.folder.path("screens"), "COLORTERM": "truecolor"]),
            persona: .kitty)
        #expect(session.until { $0.text.contains("Updated:") })
        session.untilQuiet()
        #expect(session.screen.text.contains("1 of 28"))
        session.type("Q")
        #expect(session.wait() == 0)
        let found = findings()
        #expect(found["pixels"] == "none: GNU screen has no support", "\(found)")
        #expect(found["colours"] == "256, according to terminfo", "\(found)")
        #expect(found["terminal"]?.hasPrefix("GNU screen, according to ") == true)
    }
}
