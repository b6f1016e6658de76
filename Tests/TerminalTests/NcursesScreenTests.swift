import Cells
import Glibc
import TestSupport
import Testing
import Text

@testable import Terminal

/// ncurses has one state per process, so these tests run one after the other.
@MainActor @Suite(.serialized) struct NcursesScreenTests {
    private let size = Size(columns: 40, rows: 10)

    init() { setlocale(LC_ALL, "C.UTF-8") }

    private func screen(_ kind: String = "xterm-256color", colours: String = "") throws -> NcursesScreen {
        let variables = ["TERM": kind, "COLORTERM": colours]
        return try NcursesScreen(TerminalEnvironment { variables[$0] }, size: size, cellAspect: nil)
    }

    private func surface(_ draw: (inout Surface) -> Void) -> Surface {
        var surface = Surface(size: size)
        draw(&surface)
        return surface
    }

    private func row(_ row: Int, _ column: Int = 0) -> Rect {
        Rect(column: column, row: row, columns: size.columns - column, rows: 1)
    }

    private func picture(_ seed: UInt8) -> CellBlock {
        let cells = (0..<24).map { index in
            Cell(
                Glyph("▀"),
                style: Style(
                    foreground: .rgb(seed, UInt8(index), 7), background: .rgb(UInt8(index), seed, 9)))
        }
        return CellBlock(size: Size(columns: 8, rows: 3), cells: cells)
    }

    @Test(
        "Reverse video is used where terminfo has it for single cells",
        arguments: [("vt100", true), ("linux", true), ("xterm-256color", true), ("vt52", false), ("tvi925", false)])
    func reverseVideo(kind: String, reverses: Bool) throws {
        let screen = try screen(kind)
        defer { screen.close() }
        #expect(screen.reverses == reverses)
    }

    @Test("The terminal shows the surface") func shows() throws {
        let screen = try screen()
        defer { screen.close() }
        let terminal = VirtualScreen(columns: 40, rows: 10)
        let one = surface {
            $0.write("Sunset 日本 cafe\u{301}", in: row(1, 3))
            $0.write("bold", in: row(4), style: Style(foreground: .palette(3), attributes: [.bold]))
        }
        terminal.write(screen.update(to: one))
        #expect(terminal.text(inRow: 1) == "   Sunset 日本 cafe\u{301}")
        #expect(terminal.text(inRow: 4) == "bold" && terminal[0, 4].style.contains("33"))
        #expect(terminal.isAlternate && !terminal.isCursorVisible)
        let two = surface { $0.write("Sunrise", in: row(1, 3)) }
        terminal.write(screen.update(to: two))
        #expect(terminal.text == two.text)
        terminal.write(screen.leave())
        #expect(!terminal.isAlternate && terminal.isCursorVisible)
        #expect(terminal.violations.isEmpty)
    }

    @Test("Only changes are sent") func sendsChanges() throws {
        let screen = try screen()
        defer { screen.close() }
        let one = surface { for line in 0..<10 { $0.write("A line of text, number \(line)", in: row(line)) } }
        _ = screen.update(to: one)
        #expect(screen.update(to: one).isEmpty)
        var two = one
        two.write("X", in: row(5, 3))
        #expect(screen.update(to: two).count < 20)
    }

    @Test("The cursor is visible where the surface has it") func cursor() throws {
        let screen = try screen()
        defer { screen.close() }
        let terminal = VirtualScreen(columns: 40, rows: 10)
        var one = surface { $0.write("Address: ", in: row(2)) }
        one.cursor = Point(column: 9, row: 2)
        terminal.write(screen.update(to: one))
        #expect(terminal.isCursorVisible && terminal.cursor == (9, 2))
        one.cursor = nil
        terminal.write(screen.update(to: one))
        #expect(!terminal.isCursorVisible)
    }

    @Test("True-colour pictures leave no remnants") func noRemnants() throws {
        let screen = try screen(colours: "truecolor")
        defer { screen.close() }
        #expect(screen.used.colours == .full)
        let terminal = VirtualScreen(columns: 40, rows: 10)
        var state: UInt64 = 1
        func random(_ bound: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33) % bound
        }
        for step in 0..<200 {
            let next = surface { surface in
                for line in 0..<10 where random(3) > 0 {
                    surface.write("Photo \(random(99))", in: row(line, random(20)))
                }
                for _ in 0..<random(4) {
                    surface.draw(
                        picture(UInt8(random(255))), at: Point(column: random(40), row: random(10)), in: Rect(size))
                }
            }
            terminal.write(screen.update(to: next))
            expectSame(terminal, next, step)
            // Also redraw everything over the old contents.
            if step % 20 == 19 {
                screen.invalidate()
                terminal.write(screen.update(to: next))
                expectSame(terminal, next, step)
            }
        }
        #expect(terminal.violations.isEmpty)
    }

    private func expectSame(_ terminal: VirtualScreen, _ surface: Surface, _ step: Int) {
        #expect(terminal.text == surface.text, "step \(step)")
        for row in 0..<size.rows {
            for column in 0..<size.columns
            where terminal[column, row].style != Self.expected(surface[column, row].style) {
                Issue.record("step \(step), column \(column), row \(row): \(terminal[column, row])")
            }
        }
    }

    @Test("All lines scroll, independent of terminfo's number of lines") func scrollingRegion() throws {
        let screen = try NcursesScreen(
            TerminalEnvironment { ["TERM": "xterm"][$0] }, size: Size(columns: 40, rows: 30), cellAspect: nil)
        defer { screen.close() }
        let output = String(decoding: screen.update(to: Surface(size: Size(columns: 40, rows: 30))), as: UTF8.self)
        #expect(output.contains("\u{1B}[r") && !output.contains("24r"))
    }

    @Test("A resize redraws the screen") func resizing() throws {
        let screen = try screen()
        defer { screen.close() }
        let terminal = VirtualScreen(columns: 40, rows: 10)
        terminal.write(screen.update(to: surface { $0.write("small", in: row(0)) }))
        var large = Surface(size: Size(columns: 100, rows: 30))
        large.write("large", in: Rect(column: 90, row: 29, columns: 10, rows: 1))
        terminal.resize(columns: 100, rows: 30)
        terminal.write(screen.update(to: large))
        #expect(terminal.text == large.text)
        var tiny = Surface(size: Size(columns: 5, rows: 2))
        tiny.write("tiny", in: Rect(column: 0, row: 1, columns: 5, rows: 1))
        terminal.resize(columns: 5, rows: 2)
        terminal.write(screen.update(to: tiny))
        #expect(terminal.text == tiny.text)
    }

    @Test("Colour pairs do not run out") func colourPairs() throws {
        let screen = try screen()
        defer { screen.close() }
        let terminal = VirtualScreen(columns: 40, rows: 10)
        var pair = 0
        for _ in 0..<200 {
            let next = surface { surface in
                for line in 0..<10 {
                    for column in 0..<40 {
                        pair += 1
                        let style = Style(
                            foreground: .palette(UInt8(truncatingIfNeeded: pair / 256)),
                            background: .palette(UInt8(truncatingIfNeeded: pair)))
                        surface.write("x", in: Rect(column: column, row: line, columns: 1, rows: 1), style: style)
                    }
                }
            }
            terminal.write(screen.update(to: next))
            for line in 0..<10 {
                for column in 0..<40 {
                    let style = next[column, line].style
                    #expect(terminal[column, line].style == Self.expected(style), "pair \(pair)")
                }
            }
        }
    }

    /// The user can ask for more colours than terminfo has.
    @Test("Text appears even if the terminal has no colours, or too few pairs", arguments: ["vt100", "hpterm-color"])
    func tooFewPairs(kind: String) throws {
        let screen = try screen(kind)
        defer { screen.close() }
        screen.use { $0.colours = .sixteen }
        let colourful = surface { surface in
            for column in 0..<16 {
                let style = Style(foreground: .palette(UInt8(column)), background: .palette(UInt8(15 - column)))
                surface.write("#", in: Rect(column: column, row: 0, columns: 1, rows: 1), style: style)
            }
        }
        let signs = screen.update(to: colourful).count { $0 == UInt8(ascii: "#") }
        #expect(signs == 16)
        // The next frame is complete, too.
        let next = surface { $0.write("#", in: row(1), style: Style(foreground: .palette(1))) }
        #expect(screen.update(to: next).contains(UInt8(ascii: "#")))
    }

    private static func expected(_ style: Style) -> String {
        func code(_ colour: Colour, _ base: Int) -> String {
            switch colour {
            case .terminal: ""
            case .palette(let index) where index < 8: "\(base + Int(index))"
            case .palette(let index) where index < 16: "\(base + 52 + Int(index))"
            case .palette(let index): "\(base + 8),5,\(index)"
            case .rgb(let red, let green, let blue): "\(base + 8),2,\(red),\(green),\(blue)"
            }
        }
        return style == .plain ? "" : "|\(code(style.foreground, 30))|\(code(style.background, 40))"
    }

    /// With eight colours there are 64 pairs, and every combination must be available.
    @Test("Every pair of eight colours is available") func eightColours() throws {
        let screen = try screen("linux")
        defer { screen.close() }
        let terminal = VirtualScreen(columns: 40, rows: 10)
        let all = surface { surface in
            for pair in 0..<64 {
                let style = Style(foreground: .palette(UInt8(pair / 8)), background: .palette(UInt8(pair % 8)))
                surface.write("x", in: row(pair / 32, pair % 32), style: style)
            }
        }
        terminal.write(screen.update(to: all))
        for pair in 0..<64 {
            let shown = terminal[pair % 32, pair / 32].style
            #expect(["|3\(pair / 8)|4\(pair % 8)", "7 |3\(pair % 8)|4\(pair / 8)"].contains(shown), "\(pair)")
        }
    }

    @Test(
        "Palette colours keep their values on terminals with direct colours",
        arguments: [
            ("xterm-direct", 5, "\u{1B}[35m"), ("xterm-direct", 9, "\u{1B}[38:2::255:0:0m"),
            ("xterm-direct", 16, "\u{1B}[38:2::0:0:8m"), ("xterm-direct", 231, "\u{1B}[38:2::255:255:255m"),
            ("xterm-direct16", 9, "\u{1B}[91m"), ("xterm-direct16", 232, "\u{1B}[38:2::8:8:8m"),
            ("xterm-direct256", 17, "\u{1B}[38;5;17m"), ("st-direct", 110, "\u{1B}[38;2;135;175;215m"),
        ] as [(String, UInt8, String)])
    func directColours(kind: String, index: UInt8, sequence: String) throws {
        try expectColour(index, on: kind, is: sequence)
    }

    @Test(
        "A colour that the terminal lacks becomes the nearest one",
        arguments: [
            ("xterm", 241, "\u{1B}[30m"), ("xterm", 75, "\u{1B}[36m"), ("xterm", 203, "\u{1B}[31m"),
            ("xterm", 231, "\u{1B}[37m"), ("xterm", 12, "\u{1B}[34m"), ("screen", 203, "\u{1B}[31m"),
            ("xterm-16color", 203, "\u{1B}[91m"), ("xterm-16color", 12, "\u{1B}[94m"),
        ] as [(String, UInt8, String)])
    func nearestColours(kind: String, index: UInt8, sequence: String) throws {
        try expectColour(index, on: kind, is: sequence)
    }

    private func expectColour(_ index: UInt8, on kind: String, is sequence: String) throws {
        let screen = try screen(kind)
        defer { screen.close() }
        let bytes = screen.update(
            to: surface { $0.write("x", in: row(0), style: Style(foreground: .palette(index))) })
        #expect(String(decoding: bytes, as: UTF8.self).contains(sequence + "x"))
    }

    @Test("Default colours are not reversed") func defaultColours() throws {
        let screen = try screen("linux")
        defer { screen.close() }
        let terminal = VirtualScreen(columns: 40, rows: 10)
        terminal.write(
            screen.update(to: surface { $0.write("x", in: row(0), style: Style(background: .palette(3))) }))
        terminal.write(
            screen.update(to: surface { $0.write("x", in: row(0), style: Style(foreground: .palette(3))) }))
        #expect(terminal[0, 0].style == "|33|")
    }

    @Test("Common terminal types work", arguments: ["linux", "vt100", "tmux-256color", "xterm", "screen"])
    func terminalTypes(kind: String) throws {
        let screen = try screen(kind)
        defer { screen.close() }
        let terminal = VirtualScreen(columns: 40, rows: 10)
        let one = surface {
            $0.write("Sunset", in: row(1, 3), style: Style(foreground: .palette(11), attributes: .bold))
        }
        terminal.write(screen.update(to: one))
        #expect(terminal.text(inRow: 1) == "   Sunset")
        #expect(screen.used.colours == (kind == "vt100" ? .none : kind == "tmux-256color" ? .palette : .eight))
        #expect(screen.keyString("kcuu1") != nil)
    }

    @Test("A terminal with a single screen gets an empty last line for the shell", arguments: ["linux", "vt100"])
    func lastLine(kind: String) throws {
        let screen = try screen(kind)
        defer { screen.close() }
        let terminal = VirtualScreen(columns: 40, rows: 10)
        terminal.write(screen.update(to: surface { for line in 0..<10 { $0.write("Open gallery", in: row(line)) } }))
        terminal.write(screen.leave())
        #expect(terminal.text(inRow: 8) == "Open gallery" && terminal.text(inRow: 9).isEmpty)
        #expect(terminal.cursor.column == 0 && terminal.cursor.row == 9)
        // After a crash, the line with the cursor is empty. A delay is no text.
        terminal.write("abc".utf8)
        terminal.write(screen.leavingSequence)
        #expect(terminal.text(inRow: 9).isEmpty && terminal.cursor.column == 0)
    }

    @Test("An unknown terminal type is an error") func unknownType() {
        #expect(throws: TerminalError.unknownKind("no-such-terminal")) { _ = try screen("no-such-terminal") }
    }

    @Test("A terminal type that cannot move the cursor is an error") func fixedCursor() {
        #expect(throws: TerminalError.fixedCursor("dumb")) { _ = try screen("dumb") }
    }

    @Test("Terminals without Unicode get ASCII") func ascii() throws {
        let screen = try screen()
        defer { screen.close() }
        screen.use { $0.unicode = false }
        let bytes = screen.update(to: surface { $0.write("─┐ … 日本 é x", in: row(0)) })
        #expect(bytes.allSatisfy { $0 < 0x80 })
        let terminal = VirtualScreen(columns: 40, rows: 10)
        terminal.write(bytes)
        #expect(terminal.text(inRow: 0) == "-+ ~ ???? ? x")
    }

    @Test("Marks take no columns in ASCII") func asciiMarks() throws {
        let screen = try screen()
        defer { screen.close() }
        screen.use { $0.unicode = false }
        let bytes = screen.update(to: surface { $0.write("Cafe\u{301}.jpg n\u{303}\u{323}o", in: row(0)) })
        #expect(bytes.allSatisfy { $0 < 0x80 })
        let terminal = VirtualScreen(columns: 40, rows: 10)
        terminal.write(bytes)
        #expect(terminal.text(inRow: 0) == "Cafe.jpg no")
        #expect(terminal.violations.isEmpty)
    }

    @Test("In ASCII, a picture in all colours leaves its neighbours alone") func asciiPictures() throws {
        let screen = try screen(colours: "truecolor")
        defer { screen.close() }
        screen.use { $0.unicode = false }
        let terminal = VirtualScreen(columns: 40, rows: 10)
        for seed: UInt8 in [0, 1, 2] {
            let bytes = screen.update(
                to: surface {
                    // The text is there before the picture.
                    if seed > 0 { $0.draw(picture(seed), at: Point(column: 0, row: 0), in: Rect(size)) }
                    $0.write("| name", in: row(1, 8))
                })
            #expect(bytes.allSatisfy { $0 < 0x80 })
            terminal.write(bytes)
            let line = String(repeating: seed > 0 ? "\"" : " ", count: 8)
            #expect(terminal.text(inRow: 1) == line + "| name")
            #expect(terminal.text(inRow: 0) == (seed > 0 ? line : ""))
        }
        // The picture gives way to text.
        terminal.write(screen.update(to: surface { $0.write("text", in: row(1)) }))
        #expect((0..<3).map { terminal.text(inRow: $0) } == ["", "text", ""])
    }

    @Test("Hostile names do no harm") func harmfulNames() throws {
        let screen = try screen()
        defer { screen.close() }
        let terminal = VirtualScreen(columns: 40, rows: 10)
        let names = [
            "\u{1B}[2J\u{1B}]52;c;x\u{7}", "\u{9B}2J", "a\u{8}\u{8}\u{8}b", "abc\u{202E}gpj",
            "z" + String(repeating: "\u{301}", count: 10_000) + "w",
        ]
        terminal.write(
            screen.update(to: surface { for (line, name) in names.enumerated() { $0.write(name, in: row(line)) } }))
        #expect(terminal.violations.isEmpty)
        #expect(terminal.text(inRow: 0) == "␛[2J␛]52;c;x␇")
        #expect(terminal.text(inRow: 2) == "a␈␈␈b")
        #expect(terminal.text(inRow: 4).hasSuffix("w"))
    }

    /// With a handler of ncurses, an early signal would end the program with status 1.
    @Test("A screen leaves the signals as they are", arguments: [SIGINT, SIGTERM, SIGTSTP, SIGWINCH])
    func signals(number: Int32) throws {
        let screen = try NcursesScreen(
            TerminalEnvironment { ["TERM": "vt100"][$0] }, size: Size(columns: 80, rows: 24), cellAspect: nil)
        var action = sigaction()
        #expect(sigaction(number, nil, &action) == 0)
        // Other tests may ignore signals.
        #expect([0, 1].contains(unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self)))
        withExtendedLifetime(screen) {}
    }
}
