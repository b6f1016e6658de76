import Cells
import Testing

@testable import Terminal

@Suite struct TerminalFindingsTests {
    private static let window = Size(columns: 80, rows: 24)
    private static let cell = CellPixels(cellWidth: 10, height: 20)

    private func findings(
        _ variables: [String: String], colours: Int = 256, isUnicode: Bool = true, cell: CellPixels? = cell,
        size: Size = window,
        wishes: TerminalWishes = TerminalWishes(), _ answer: (inout TerminalAnswers) -> Void = { _ in }
    ) -> TerminalFindings {
        var answers = TerminalAnswers()
        answer(&answers)
        return TerminalFindings(
            TerminalEnvironment { variables[$0] },
            .init(
                terminfoColours: colours, isUnicode: isUnicode, size: size, cell: cell),
            answers, wishes)
    }

    private let xterm = ["TERM": "xterm-256color"]

    @Test("Answers determine the pixel protocol") func answers() {
        let kitty = findings(xterm) { ($0.takesKitty, $0.attributes) = (true, [62]) }.capabilities
        #expect(kitty.pixels == PixelCapabilities(.kitty, cellWidth: 10, cellHeight: 20))
        let sixel = findings(xterm) { ($0.attributes, $0.sixelColours) = ([62, 4], 16) }.capabilities
        #expect(sixel.pixels == PixelCapabilities(.sixel, cellWidth: 10, cellHeight: 20, paletteSize: 16))
        #expect(findings(xterm) { $0.attributes = [62] }.capabilities.pixels == nil)
        // With both, kitty is used, because its pictures can be placed and removed.
        #expect(
            findings(xterm) { ($0.takesKitty, $0.attributes) = (true, [62, 4]) }.capabilities.pixels?.language == .kitty
        )
    }

    @Test("The terminal is remote if SSH_CONNECTION is set") func remote() {
        let away = findings(["TERM": "xterm-256color", "SSH_CONNECTION": "192.0.2.1 50000 192.0.2.2 22"]) {
            ($0.takesKitty, $0.attributes) = (true, [62])
        }
        #expect(away.capabilities.pixels == PixelCapabilities(.kitty, cellWidth: 10, cellHeight: 20, isRemote: true))
        #expect(away.lines.contains { $0.contains("sends fewer bytes over SSH") })
        let near = findings(["TERM": "xterm-256color", "SSH_CONNECTION": ""]) {
            ($0.takesKitty, $0.attributes) = (true, [62])
        }
        #expect(near.capabilities.pixels?.isRemote == false && !near.lines.contains { $0.contains("SSH") })
    }

    @Test("Reverse video depends on terminfo") func reverseVideo() {
        for reverses in [false, true] {
            let circumstances = TerminalFindings.Circumstances(
                terminfoColours: 0, isUnicode: false, size: Self.window, reverses: reverses)
            let findings = TerminalFindings(
                TerminalEnvironment { $0 == "TERM" ? "vt100" : nil }, circumstances, TerminalAnswers(), TerminalWishes()
            )
            #expect(findings.capabilities.reverses == reverses)
        }
    }

    @Test("The cell size comes from the first source that has one") func cellSize() {
        let said = findings(xterm) { $0.cell = CellPixels(cellWidth: 8, height: 16) }
        #expect(said.capabilities.cellAspect == 0.5 && said.lines.contains("cell: 8 × 16 pixels, as reported"))
        let area = TerminalAnswers.Area(width: 720, height: 432, size: Self.window)
        let byArea = findings(xterm, cell: nil) { $0.area = area }
        #expect(byArea.lines.contains("cell: 9 × 18 pixels, from the reported window size"))
        let system = findings(xterm)
        #expect(system.lines.contains("cell: 10 × 20 pixels, from the system"))
        // With an unknown cell size sixel would cover the wrong cells; the others scale.
        let nobody = findings(xterm, cell: nil) { $0.attributes = [62, 4] }
        #expect(nobody.capabilities.pixels == nil && nobody.capabilities.cellAspect == 0.5)
        #expect(
            findings(xterm, cell: nil) { ($0.takesKitty, $0.attributes) = (true, [62]) }.capabilities.pixels?.language
                == .kitty)
    }

    /// After a resize, before the terminal has answered again.
    @Test("A text area applies to its number of cells") func resized() {
        let area = TerminalAnswers.Area(width: 720, height: 432, size: Self.window)
        let larger = Size(columns: 100, rows: 30)
        let system = findings(xterm, size: larger) { $0.area = area }
        #expect(system.lines.contains("cell: 10 × 20 pixels, from the system"))
        let nobody = findings(xterm, cell: nil, size: larger) { ($0.area, $0.attributes) = (area, [62, 4]) }
        #expect(nobody.lines.contains("cell: 9 × 18 pixels, from the window size before the last resize"))
        // The pictures stay.
        #expect(nobody.capabilities.pixels == PixelCapabilities(.sixel, cellWidth: 9, cellHeight: 18))
    }

    @Test(
        "The brand takes precedence over answers",
        arguments: [
            ("kitty(0.35.2)", PixelProtocol.kitty), ("ghostty 1.1.0", .kitty), ("WezTerm 20240203-110809", .iterm),
            ("iTerm2 3.5.4", .iterm), ("mintty 3.7.6", .iterm), ("foot(1.16.2)", .sixel), ("XTerm(390)", .sixel),
            ("Konsole 23.08.1", .kitty), ("something new", .kitty),
        ])
    func brandFirst(version: String, language: PixelProtocol) {
        let takesKitty = !["foot(1.16.2)", "XTerm(390)"].contains(version)
        let findings = findings(xterm) {
            ($0.version, $0.takesKitty, $0.attributes) = (version, takesKitty, [62, 4])
        }
        #expect(findings.capabilities.pixels?.language == language, "\(findings.lines)")
        #expect(findings.lines[0].hasPrefix("terminal: \(version), as reported"))
    }

    @Test("The user's settings take precedence") func userFirst() {
        let answers: (inout TerminalAnswers) -> Void = {
            ($0.version, $0.takesKitty, $0.attributes) = ("kitty(0.35)", true, [62])
        }
        for language in PixelProtocol.allCases {
            let findings = findings(xterm, wishes: TerminalWishes(pixels: .only(language)), answers)
            #expect(findings.capabilities.pixels?.language == language)
        }
        let none = findings(
            xterm, wishes: TerminalWishes(pixels: .none, colours: .sixteen, isASCII: true), answers)
        #expect(none.capabilities.pixels == nil && none.capabilities.colours == .sixteen && !none.capabilities.unicode)
        #expect(!none.capabilities.sextants)
        #expect(none.lines.contains("pixels: none, as configured") && none.lines.contains("colours: 16, as configured"))
    }

    @Test("The first frame uses the environment") func firstFrame() {
        // Other terminals do not inherit TERM.
        #expect(findings(["TERM": "xterm-kitty"]).capabilities.pixels?.language == .kitty)
        // Other variables are inherited by every program.
        let inherited = findings(xterm.merging(["KITTY_WINDOW_ID": "1"]) { $1 })
        #expect(inherited.capabilities.pixels == nil)
        #expect(inherited.capabilities.colours == .full && inherited.capabilities.sextants)
        // The answers show that it is another terminal.
        let other = findings(xterm.merging(["KITTY_WINDOW_ID": "1"]) { $1 }) { $0.attributes = [6] }
        #expect(
            other.capabilities.pixels == nil && other.capabilities.colours == .palette && !other.capabilities.sextants)
        let wrong = findings(["TERM": "xterm-kitty"]) { $0.attributes = [6] }
        #expect(wrong.capabilities.pixels == nil)
    }

    @Test("Of two terminals that set a variable the last one counts") func lastVariable() {
        let environment = TerminalEnvironment {
            ["TERM": "xterm-256color", "KITTY_WINDOW_ID": "1", "TERM_PROGRAM": "WezTerm"][$0]
        }
        #expect(environment.brand?.brand == .wezTerm)
    }

    @Test(
        "Multiplexers take precedence",
        arguments: [
            (["TERM": "tmux-256color"], TerminalBrand.tmux),
            (["TERM": "screen-256color", "TMUX": "/tmp/x,1,0"], .tmux),
            (["TERM": "xterm-kitty", "TMUX": "/tmp/x,1,0"], .tmux), (["TERM": "screen", "STY": "1.pts"], .gnuScreen),
            (["TERM": "screen.xterm-256color"], .gnuScreen), (["TERM": "xterm-256color", "STY": "1.pts"], .gnuScreen),
            (["TERM": "xterm-256color", "ZELLIJ": "0"], .zellij),
            (["TERM": "screen", "STY": "1.pts", "TMUX": "/tmp/x,1,0"], .gnuScreen),
        ])
    func multiplexers(variables: [String: String], brand: TerminalBrand) {
        #expect(TerminalEnvironment { variables[$0] }.brand?.brand == brand)
    }

    @Test("tmux passes pictures on if allowed") func tmux() {
        let tmux = ["TERM": "tmux-256color", "TMUX": "/tmp/x,1,0"]
        let answers: (inout TerminalAnswers) -> Void = { ($0.version, $0.attributes) = ("tmux 3.3a", [1, 2]) }
        #expect(findings(tmux, answers).capabilities.pixels == nil)
        func outer(_ version: String?, _ variables: [String: String] = [:], isUnicode: Bool = true)
            -> PixelCapabilities?
        {
            findings(tmux.merging(variables) { $1 }, isUnicode: isUnicode) {
                answers(&$0)
                ($0.outerTakesKitty, $0.outerVersion) = (true, version)
            }.capabilities.pixels
        }
        let throughTmux = PixelCapabilities(.kitty, cellWidth: 10, cellHeight: 20, isThroughTmux: true)
        #expect(outer("kitty(0.35.2)") == throughTmux && outer(nil, ["KITTY_WINDOW_ID": "1"]) == throughTmux)
        // A terminal that supports kitty graphics but not placeholders.
        #expect(outer("WezTerm 20240203") == nil && outer(nil, ["KONSOLE_VERSION": "230801"]) == nil)
        #expect(outer("something new") == nil)
        // Placeholders need Unicode.
        #expect(outer("kitty(0.35.2)", isUnicode: false) == nil)
        // A tmux that supports sixel itself.
        let sixel = findings(tmux) { ($0.version, $0.attributes) = ("tmux 3.5", [1, 2, 4]) }
        #expect(sixel.capabilities.pixels == PixelCapabilities(.sixel, cellWidth: 10, cellHeight: 20))
    }

    @Test("GNU screen has no pixels") func gnuScreen() {
        let screen = ["TERM": "screen.xterm-256color", "STY": "1.pts"]
        let findings = findings(screen) { ($0.attributes, $0.takesKitty) = ([1, 2, 4], true) }
        #expect(findings.capabilities.pixels == nil)
        #expect(findings.lines.contains("pixels: none: GNU screen has no support"), "\(findings.lines)")
        // tmux with TERM=screen is still tmux.
        let identity = TerminalIdentity(
            TerminalEnvironment { ["TERM": "screen-256color"][$0] },
            {
                var answers = TerminalAnswers()
                (answers.version, answers.attributes) = ("tmux 3.3a", [1, 2])
                return answers
            }())
        #expect(identity.brand == .tmux && identity.questions.contains(.outerKitty))
    }

    @Test("GNU screen has no clipboard") func clipboard() {
        #expect(!findings(["TERM": "screen", "STY": "1.pts"]).capabilities.clipboard)
        // tmux with TERM=screen.
        #expect(findings(["TERM": "screen"]) { $0.version = "tmux 3.3a" }.capabilities.clipboard)
    }

    @Test(
        "Old terminals are not queried",
        arguments: [
            ("linux", 8, ColourDepth.eight), ("vt100", -1, .none), ("dumb", -1, .none), ("weird", 16, .sixteen),
        ])
    func oldTerminals(kind: String, colours: Int, depth: ColourDepth) {
        let variables = ["TERM": kind]
        #expect(!TerminalEnvironment { variables[$0] }.isXtermLike)
        let found = findings(variables, colours: colours)
        #expect(found.capabilities.colours == depth && found.capabilities.pixels == nil)
        #expect(!found.capabilities.synchronises && !found.capabilities.sextants && !found.capabilities.clipboard)
        #expect(findings(xterm).capabilities.clipboard)
        #expect(found.lines.contains("pixels: none: Vitrine does not query this type of terminal"))
    }

    @Test("Colours come from settings, the environment and the brand") func colours() {
        #expect(findings(xterm).capabilities.colours == .palette)
        #expect(findings(xterm.merging(["COLORTERM": "truecolor"]) { $1 }).capabilities.colours == .full)
        #expect(findings(xterm) { $0.version = "foot(1.16.2)" }.capabilities.colours == .full)
        #expect(
            findings(xterm.merging(["NO_COLOR": "1"]) { $1 }) { $0.version = "foot(1)" }.capabilities.colours == .none)
        #expect(findings(["TERM": "xterm-mono"], colours: -1) { $0.version = "foot(1)" }.capabilities.colours == .none)
    }

    @Test("In GNU screen, the number of colours comes from settings and terminfo") func coloursInScreen() {
        let inherited = ["TERM": "screen.xterm-256color", "COLORTERM": "truecolor"]
        let screen = inherited.merging(["STY": "1.pts"]) { $1 }
        let found = findings(screen) { $0.attributes = [1, 2] }
        #expect(found.capabilities.colours == .palette, "\(found.lines)")
        #expect(found.lines.contains("colours: 256, according to terminfo"))
        #expect(findings(screen, wishes: TerminalWishes(colours: .full)).capabilities.colours == .full)
        #expect(findings(screen.merging(["TERM": "screen-direct"]) { $1 }).capabilities.colours == .full)
        // tmux with TERM=screen.
        #expect(findings(inherited).capabilities.colours == .palette)
        #expect(findings(inherited) { $0.version = "tmux 3.3a" }.capabilities.colours == .full)
    }

    @Test("Characters depend on the locale and the terminal") func characters() {
        #expect(findings(xterm) { $0.version = "ghostty 1.1.0" }.capabilities.sextants)
        #expect(!findings(xterm) { $0.version = "XTerm(390)" }.capabilities.sextants)
        let plain = findings(xterm, isUnicode: false) { $0.version = "ghostty 1.1.0" }
        #expect(!plain.capabilities.unicode && !plain.capabilities.sextants)
        #expect(plain.lines.contains("characters: ASCII only: the locale is not UTF-8"))
    }

    @Test("Other answers are used") func otherFindings() {
        let findings = findings(xterm) { ($0.synchronises, $0.background) = (true, .rgb(30, 30, 5)) }
        #expect(findings.capabilities.synchronises && findings.capabilities.background == .rgb(30, 30, 5))
        #expect(findings.lines.contains("background: #1e1e05, as reported"))
    }

    /// Some terminals take a query for a title or a message, or print it.
    @Test("Queries that would do harm are not sent") func harmlessQueries() {
        func questions(_ variables: [String: String]) -> Set<TerminalQuestion> {
            TerminalIdentity(TerminalEnvironment { variables[$0] }, TerminalAnswers()).questions
        }
        #expect(questions(xterm).contains(.kitty) && !questions(xterm).contains(.outerKitty))
        #expect(!questions(["TERM": "tmux-256color"]).contains(.kitty))
        #expect(questions(["TERM": "screen", "STY": "1"]) == [.version, .attributes])
        #expect(questions(["TERM": "xterm-256color", "TERM_PROGRAM": "Apple_Terminal"]) == [.attributes])
    }

    /// No two brands share an identifying trait.
    @Test("Brands are distinguishable") func distinctBrands() {
        let versions = TerminalBrand.allCases.compactMap(\.traits.version)
        for version in versions {
            #expect(version == version.lowercased())
            #expect(versions.filter { version.hasPrefix($0) } == [version], "\(version)")
        }
        for brand in TerminalBrand.allCases {
            let marks = brand.traits.version != nil || brand.traits.kind != nil || !brand.traits.variables.isEmpty
            #expect(marks, "\(brand)")
        }
    }
}
