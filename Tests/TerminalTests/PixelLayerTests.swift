import Cells
import Glibc
import TestSupport
import Testing
import Text

@testable import Terminal

/// Pictures over text on a simulated terminal.
@MainActor @Suite(.serialized) struct PixelLayerTests {
    private let size = Size(columns: 40, rows: 12)

    init() { setlocale(LC_ALL, "C.UTF-8") }

    /// A screen, its pictures and a simulated terminal.
    @MainActor private final class Stage {
        let screen: NcursesScreen
        var layer: PixelLayer
        let terminal = VirtualScreen(columns: 40, rows: 12)

        init(isThroughTmux: Bool) throws {
            let variables = ["TERM": "xterm-256color", "COLORTERM": "truecolor"]
            screen = try NcursesScreen(
                TerminalEnvironment { variables[$0] }, size: Size(columns: 40, rows: 12), cellAspect: nil)
            layer = PixelLayer(isThroughTmux: isThroughTmux)
        }

        /// Draws a frame like `Terminal`.
        func draw(_ surface: Surface, upTo most: Int = .max) {
            if screen.clears(for: surface.size) { terminal.write(layer.clear()) }
            terminal.write(layer.prepare(for: surface.placements, on: surface.size, upTo: most))
            if let text = screen.update(to: surface, ceded: layer.ceded, hasPictures: layer.showsPictures) {
                terminal.write(text)
            } else {
                terminal.write(layer.clear() + screen.update(to: surface))
            }
        }

        /// Shows all pictures, as when the screen is still.
        func rest() { _ = show(upTo: .max) }

        /// Shows pictures up to a size. Returns their number.
        func show(upTo most: Int) -> Int {
            var count = 0
            while let (pieces, ceded) = layer.showNext(upTo: most) {
                count += 1
                terminal.write("\u{1B}7".utf8)
                terminal.write(pieces.joined())
                terminal.write("\u{1B}8".utf8)
                if let ceded { terminal.write(screen.cede(ceded)) }
            }
            return count
        }
    }

    private func picture(
        _ number: Int, _ language: PixelProtocol, _ size: Size, isThroughTmux: Bool = false
    ) -> PixelPicture {
        PixelPicture(
            language, size: size, width: 10 * size.columns, height: 20 * size.rows,
            payload: Array(payload(number, language, size).utf8), isThroughTmux: isThroughTmux)
    }

    private func payload(_ number: Int, _ language: PixelProtocol, _ size: Size) -> String {
        switch language {
        case .kitty, .iterm: String(repeating: "QUJD", count: 1_030 + number)
        case .sixel: "\"1;1;\(10 * size.columns);\(20 * size.rows)#0;2;\(number % 100);0;0#0!\(10 * size.columns)~-"
        }
    }

    /// The simulated terminal's digest of a picture.
    private func digest(_ picture: PixelPicture) -> String {
        // Pictures with different numbers have different sizes.
        VirtualPictures.digest(payload(picture.size.columns - 4, picture.language, picture.size))
    }

    private func block(_ number: Int, _ size: Size) -> CellBlock {
        let cells = (0..<size.columns * size.rows).map { index in
            Cell(
                Glyph(index % 3 == 0 ? " " : "▀"),
                style: Style(foreground: .rgb(UInt8(number % 256), UInt8(index % 256), 7), background: .palette(20)))
        }
        return CellBlock(size: size, cells: cells)
    }

    /// A random screen of overlapping pictures and text.
    private func surface(_ numbers: inout SeededNumbers, _ language: PixelProtocol) -> Surface {
        var surface = Surface(size: size)
        for line in 0..<size.rows where Int.random(in: 0..<2, using: &numbers) == 0 {
            surface.write(
                "Photo \(Int.random(in: 0..<99, using: &numbers))",
                in: Rect(column: Int.random(in: 0..<30, using: &numbers), row: line, columns: 9, rows: 1))
        }
        for _ in 0..<Int.random(in: 0..<4, using: &numbers) {
            let number = Int.random(in: 0..<6, using: &numbers)
            let inner = Size(columns: 4 + number, rows: 2 + number % 3)
            surface.draw(
                block(number, inner), pixels: picture(number, language, inner),
                at: Point(
                    column: Int.random(in: 0..<40, using: &numbers), row: Int.random(in: 0..<12, using: &numbers)),
                in: Rect(size))
        }
        if Int.random(in: 0..<3, using: &numbers) == 0 {
            surface.write(
                "over it", in: Rect(column: Int.random(in: 0..<30, using: &numbers), row: 5, columns: 9, rows: 1))
        }
        return surface
    }

    private func expectSame(_ stage: Stage, _ surface: Surface, _ step: Int) {
        let shown = surface.placements.filter { $0.picture.language == .kitty || $0.rect.rows.upperBound < size.rows }
        if shown.first?.picture.language == .kitty {
            let expected = shown.map {
                VirtualPictures.Floating(
                    payload: digest($0.picture),
                    column: $0.origin.column, row: $0.origin.row, columns: $0.picture.size.columns,
                    rows: $0.picture.size.rows)
            }
            #expect(stage.terminal.pictures.floating == Set(expected), "step \(step)")
        } else {
            #expect(stage.terminal.pictures.floating.isEmpty)
        }
        for row in 0..<size.rows {
            for column in 0..<size.columns {
                let found = stage.terminal[column, row].text
                let over = shown.first {
                    $0.picture.language != .kitty && $0.rect.contains(Point(column: column, row: row))
                }
                let expected =
                    over.map { over in
                        "\(digest(over.picture)).\(column - over.origin.column).\(row - over.origin.row)"
                    } ?? surface[column, row].text
                if found != expected { Issue.record("step \(step), \(column), \(row): \(found), not \(expected)") }
            }
        }
    }

    @Test("A picture leaves no remnants and no gaps", arguments: PixelProtocol.allCases)
    func noRemnants(_ language: PixelProtocol) throws {
        let stage = try Stage(isThroughTmux: false)
        defer { stage.screen.close() }
        var numbers = SeededNumbers(seed: 7)
        for step in 0..<150 {
            let next = surface(&numbers, language)
            stage.draw(next)
            // Some screens change before their pixels are shown.
            if Int.random(in: 0..<3, using: &numbers) > 0 {
                stage.rest()
                expectSame(stage, next, step)
            }
            if step % 50 == 49 {
                stage.screen.invalidate()
                stage.draw(next)
                stage.rest()
                expectSame(stage, next, step)
            }
        }
        #expect(stage.terminal.violations.isEmpty, "\(stage.terminal.violations.prefix(5))")
    }

    @Test("A picture stays in place while the text beside it scrolls", arguments: PixelProtocol.allCases)
    func scrollingText(_ language: PixelProtocol) throws {
        let stage = try Stage(isThroughTmux: false)
        defer { stage.screen.close() }
        let inner = Size(columns: 9, rows: 9)
        for step in 0..<6 {
            var next = Surface(size: size)
            for row in 0..<size.rows {
                next.write(
                    "Photo number \(3 * step + row)", in: Rect(column: 0, row: row, columns: 19, rows: 1))
            }
            next.draw(
                block(5, inner), pixels: picture(5, language, inner), at: Point(column: 22, row: 1), in: Rect(size))
            stage.draw(next)
            #expect(stage.layer.isComplete == (step > 0))
            stage.rest()
            expectSame(stage, next, step)
        }
        #expect(stage.terminal.violations.isEmpty, "\(stage.terminal.violations)")
    }

    @Test("Through tmux pictures are shown as text and their pixels pass through")
    func placeholders() throws {
        let stage = try Stage(isThroughTmux: true)
        defer { stage.screen.close() }
        let inner = Size(columns: 6, rows: 3)
        var one = Surface(size: size)
        one.draw(
            block(1, inner), pixels: picture(1, .kitty, inner, isThroughTmux: true), at: Point(column: 3, row: 2),
            in: Rect(size))
        stage.draw(one)
        stage.rest()
        #expect(stage.terminal.pictures.floating.isEmpty && stage.terminal.pictures.ready.count == 1)
        let scalars = Array(stage.terminal[4, 3].text.unicodeScalars)
        // The second row, the second column.
        #expect(scalars.first == "\u{10EEEE}" && scalars[1] == "\u{30D}" && scalars[2] == "\u{30D}")
        let id = try #require(stage.terminal.pictures.ready.first)
        #expect(stage.terminal[4, 3].style.contains("38,5,\(id & 0xFF)"))
        var two = Surface(size: size)
        two.write("text again", in: Rect(column: 0, row: 3, columns: 20, rows: 1))
        stage.draw(two)
        #expect(stage.terminal.text == two.text && stage.terminal.pictures.ready.isEmpty)
        #expect(stage.terminal.violations.isEmpty, "\(stage.terminal.violations)")
    }

    /// Returns a screen with a picture of a video.
    private func frame(
        _ number: Int, _ language: PixelProtocol, isMoving: Bool = true, isThroughTmux: Bool = false
    ) -> Surface {
        let inner = Size(columns: 6, rows: 3)
        var surface = Surface(size: size)
        surface.draw(
            block(number, inner), pixels: picture(number, language, inner, isThroughTmux: isThroughTmux),
            isMoving: isMoving, at: Point(column: 3, row: 2), in: Rect(size))
        return surface
    }

    @Test("A frame of a video replaces the pixels of the last one in place", arguments: PixelProtocol.allCases)
    func frames(_ language: PixelProtocol) throws {
        let stage = try Stage(isThroughTmux: false)
        defer { stage.screen.close() }
        func shows(_ number: Int) -> Bool {
            let digest = VirtualPictures.digest(payload(number, language, Size(columns: 6, rows: 3)))
            return language == .kitty
                ? stage.terminal.pictures.floating.map(\.payload) == [digest]
                : stage.terminal[3, 2].text == "\(digest).0.0" && stage.terminal[8, 4].text == "\(digest).5.2"
        }
        stage.draw(frame(0, language, isMoving: false))
        stage.rest()
        #expect(shows(0))
        for number in 1..<4 {
            stage.draw(frame(number, language))
            #expect(!stage.layer.hasRemoved && !stage.layer.isComplete && shows(number - 1))
            stage.rest()
            #expect(stage.layer.isComplete && shows(number))
        }
        // The stopped video keeps its frame. Another photo appears in characters.
        stage.draw(frame(3, language, isMoving: false))
        #expect(!stage.layer.hasRemoved && stage.layer.isComplete && shows(3))
        let photo = frame(9, language, isMoving: false)
        stage.draw(photo)
        #expect(stage.layer.hasRemoved && stage.terminal.pictures.floating.isEmpty)
        #expect(stage.terminal.text == photo.text)
        #expect(stage.terminal.violations.isEmpty, "\(stage.terminal.violations)")
    }

    @Test("Through tmux, a frame of a video takes the place of the last one")
    func framesThroughTmux() throws {
        let stage = try Stage(isThroughTmux: true)
        defer { stage.screen.close() }
        for number in 0..<4 {
            stage.draw(frame(number, .kitty, isThroughTmux: true))
            #expect(number == 0 || stage.terminal[3, 2].text.unicodeScalars.first == "\u{10EEEE}")
            stage.rest()
            let id = try #require(stage.terminal.pictures.ready.first)
            #expect(
                stage.terminal.pictures.ready.count == 1 && stage.terminal[3, 2].style.contains("38,5,\(id & 0xFF)"))
        }
        #expect(stage.terminal.violations.isEmpty, "\(stage.terminal.violations)")
    }

    @Test("On a slow line, frames of a video are characters, and pixels return only when there is room")
    func slowFrames() throws {
        let stage = try Stage(isThroughTmux: false)
        defer { stage.screen.close() }
        func draw(_ number: Int, upTo most: Int) -> (wasRemoved: Bool, sent: Int) {
            stage.draw(frame(number, .kitty), upTo: most)
            return (stage.layer.hasRemoved, stage.show(upTo: most))
        }
        // Each frame has between 4,000 and 4,500 bytes.
        #expect(draw(0, upTo: 10_000) == (false, 1) && draw(1, upTo: 5_000) == (false, 1))
        #expect(draw(2, upTo: 3_000) == (true, 0) && stage.terminal.pictures.floating.isEmpty)
        #expect(draw(3, upTo: 5_000) == (true, 0) && draw(4, upTo: 8_000) == (true, 0))
        #expect(draw(5, upTo: 10_000) == (false, 1) && draw(6, upTo: 5_000) == (false, 1))
        #expect(stage.terminal.pictures.floating.count == 1)
    }

    @Test("A slow line delays large pictures only")
    func slowLines() throws {
        let stage = try Stage(isThroughTmux: false)
        defer { stage.screen.close() }
        let inner = Size(columns: 4, rows: 2)
        let large = PixelPicture(
            .kitty, size: Size(columns: 6, rows: 3), width: 60, height: 60,
            payload: [UInt8](repeating: UInt8(ascii: "A"), count: 100_000))
        var surface = Surface(size: size)
        surface.draw(block(6, large.size), pixels: large, at: Point(column: 2, row: 2), in: Rect(size))
        surface.draw(
            block(0, inner), pixels: picture(0, .kitty, inner), at: Point(column: 20, row: 2), in: Rect(size))
        stage.draw(surface)
        #expect(stage.show(upTo: 1_000) == 0 && stage.show(upTo: 5_000) == 1)
        #expect(stage.terminal.pictures.floating.map(\.column) == [20] && !stage.layer.isComplete)
        // The line has become faster, and stored pictures cost nothing.
        #expect(stage.show(upTo: 200_000) == 1 && stage.layer.isComplete)
        stage.draw(Surface(size: size))
        stage.draw(surface)
        #expect(stage.show(upTo: 0) == 2 && stage.layer.isComplete)
    }

    @Test("The tiles of a sixel picture lie beside each other")
    func tiles() throws {
        let stage = try Stage(isThroughTmux: false)
        defer { stage.screen.close() }
        let parts = [Size(columns: 4, rows: 3), Size(columns: 2, rows: 3)].map { payload(1, .sixel, $0) }
        let tiles = [
            PixelPicture.Tile(Array(parts[0].utf8)),
            PixelPicture.Tile(Array(parts[1].utf8), at: Point(column: 4, row: 0)),
        ]
        let inner = Size(columns: 6, rows: 3)
        var surface = Surface(size: size)
        surface.draw(
            block(1, inner), pixels: PixelPicture(.sixel, size: inner, width: 60, height: 60, tiles: tiles),
            at: Point(column: 3, row: 2), in: Rect(size))
        stage.draw(surface)
        stage.rest()
        let digests = parts.map(VirtualPictures.digest)
        #expect(stage.terminal[3, 2].text == "\(digests[0]).0.0" && stage.terminal[6, 4].text == "\(digests[0]).3.2")
        #expect(stage.terminal[7, 2].text == "\(digests[1]).0.0" && stage.terminal[8, 4].text == "\(digests[1]).1.2")
        stage.draw(Surface(size: size))
        #expect(stage.terminal.text == Surface(size: size).text && stage.terminal.violations.isEmpty)
    }

    /// xterm would show the picture again if only erasing sequences went over it.
    @Test("Spaces are printed over a sixel picture that goes")
    func printedSpaces() throws {
        let stage = try Stage(isThroughTmux: false)
        defer { stage.screen.close() }
        let surface = frame(0, .sixel, isMoving: false)
        stage.draw(surface)
        stage.rest()
        let unchanged = stage.layer.prepare(for: surface.placements, on: size)
        let cursor = stage.terminal.cursor
        let bytes = stage.layer.prepare(for: [], on: size)
        stage.terminal.write(bytes)
        #expect(unchanged.isEmpty)
        #expect(stage.terminal.allCells.joined().allSatisfy { $0.text == " " && $0.style.isEmpty })
        #expect(stage.terminal.cursor == cursor && bytes.count { $0 == UInt8(ascii: " ") } == 18)
        let empty = Surface(size: size)
        stage.draw(empty)
        #expect(stage.terminal.text == empty.text && stage.terminal.violations.isEmpty)
    }

    @Test("Visible pictures are never deleted for new ones")
    func moreThanThereAreNumbers() throws {
        let stage = try Stage(isThroughTmux: false)
        defer { stage.screen.close() }
        let inner = Size(columns: 1, rows: 1)
        /// One picture per cell.
        func pictures(_ cells: Range<Int>) -> Surface {
            var surface = Surface(size: size)
            for cell in cells {
                let payload = Array(String(repeating: "QUJD", count: 1 + cell).utf8)
                surface.draw(
                    block(cell, inner),
                    pixels: PixelPicture(.kitty, size: inner, width: 10, height: 20, payload: payload),
                    at: Point(column: cell % size.columns, row: cell / size.columns), in: Rect(size))
            }
            return surface
        }
        func seen() -> [Int] { stage.terminal.pictures.floating.map { $0.row * size.columns + $0.column }.sorted() }
        let all = pictures(0..<260)
        stage.draw(all)
        #expect(stage.show(upTo: .max) == 250 && stage.layer.isComplete && seen() == Array(0..<250))
        stage.draw(all)
        #expect(stage.show(upTo: .max) == 0 && stage.layer.isComplete)
        stage.draw(pictures(100..<260))
        #expect(stage.show(upTo: .max) == 10 && stage.layer.isComplete && seen() == Array(100..<260))
        #expect(stage.terminal.violations.isEmpty, "\(stage.terminal.violations.prefix(5))")
    }

    @Test("A picture counts as removed if it moves or goes, and not if text or other pictures change")
    func changes() throws {
        let stage = try Stage(isThroughTmux: false)
        defer { stage.screen.close() }
        let inner = Size(columns: 6, rows: 3)
        func draw(_ text: String, _ pictures: (number: Int, column: Int)...) -> Bool {
            var surface = Surface(size: size)
            surface.write(text, in: Rect(column: 0, row: 11, columns: 9, rows: 1))
            for (number, column) in pictures {
                surface.draw(
                    block(number, inner), pixels: picture(number, .kitty, inner), at: Point(column: column, row: 2),
                    in: Rect(size))
            }
            stage.draw(surface)
            return stage.layer.hasRemoved
        }
        #expect(!draw("10 %", (1, 3)) && !draw("20 %", (1, 3)) && !stage.layer.isComplete)
        #expect(draw("20 %", (1, 4)) && draw("20 %", (2, 4)) && !draw("20 %", (2, 4), (1, 20)) && draw("30 %"))
        #expect(!draw("40 %") && stage.layer.isComplete)
    }

    @Test("A stored picture is not sent again")
    func sentOnce() throws {
        let stage = try Stage(isThroughTmux: false)
        defer { stage.screen.close() }
        let inner = Size(columns: 6, rows: 3)
        var with = Surface(size: size)
        with.draw(block(1, inner), pixels: picture(1, .kitty, inner), at: Point(column: 3, row: 2), in: Rect(size))
        stage.draw(with)
        stage.rest()
        stage.draw(Surface(size: size))
        let before = stage.terminal.byteCount
        stage.draw(with)
        stage.rest()
        #expect(stage.terminal.byteCount - before < 1_000)
        #expect(stage.terminal.pictures.kept.count == 1)
    }

    @Test("Unchanged text beside a picture is not sent again", arguments: PixelProtocol.allCases)
    func onlyChanges(_ language: PixelProtocol) throws {
        let stage = try Stage(isThroughTmux: false)
        defer { stage.screen.close() }
        let inner = Size(columns: 5, rows: 4)
        func frame(_ left: String, _ right: String) -> Surface {
            var surface = Surface(size: size)
            surface.write(left, in: Rect(column: 0, row: 3, columns: 5, rows: 1))
            surface.write(right, in: Rect(column: 30, row: 3, columns: 5, rows: 1))
            surface.draw(
                block(1, inner), pixels: picture(1, language, inner), at: Point(column: 12, row: 2), in: Rect(size))
            return surface
        }
        stage.draw(frame("one", "two"))
        stage.rest()
        let before = stage.terminal.byteCount
        let next = frame("ONE", "TWO")
        stage.draw(next)
        #expect(stage.layer.isComplete)
        // Kitty pictures float above text, which may be rewritten.
        #expect(stage.terminal.byteCount - before < (language == .kitty ? 400 : 60))
        stage.rest()
        expectSame(stage, next, 0)
    }
}
