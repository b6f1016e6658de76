import Testing
import Text

@testable import Cells

@Suite struct SurfaceTests {
    private func row(_ column: Int, _ row: Int, _ columns: Int) -> Rect {
        Rect(column: column, row: row, columns: columns, rows: 1)
    }

    @Test("Text appears where it was written") func writing() {
        var surface = Surface(size: Size(columns: 10, rows: 3))
        #expect(surface.write("Sunset", in: row(2, 1, 8)) == 6)
        #expect(surface.text == "\n  Sunset\n")
    }

    @Test("Drawing stays inside its rectangle") func clipping() {
        var surface = Surface(size: Size(columns: 10, rows: 2))
        #expect(surface.write("a long name", in: row(0, 0, 4)) == 4)
        surface.write("off the screen", in: row(8, 0, 20))
        surface.write("nowhere", in: row(0, 7, 10))
        surface.write("before", in: row(-3, 1, 6))
        #expect(surface.text == "a lo    of\nore")
    }

    @Test("Wide characters take two cells") func wideCharacters() {
        var surface = Surface(size: Size(columns: 6, rows: 1))
        #expect(surface.write("日本", in: row(0, 0, 5)) == 4)
        #expect(surface[0, 0].width == 2 && surface[1, 0].width == 0 && surface[1, 0].text.isEmpty)
        // The third does not fit into the rectangle.
        #expect(surface.write("日本語", in: row(0, 0, 5)) == 4)
        #expect(surface.text == "日本")
    }

    @Test(
        "A cell keeps the character with all its marks",
        arguments: [
            "a", "é", "\u{10FFFD}", "日", "e\u{301}\u{302}\u{303}\u{304}", "\u{1F600}\u{20DD}\u{20DD}\u{20DD}\u{20DD}",
        ])
    func texts(_ text: String) {
        let glyph = Glyph(Character(text))
        #expect(Cell(glyph).text == glyph.text && Cell(glyph).width == glyph.width)
        #expect(glyph.text == text || text == "\u{10FFFD}")
        #expect(Cell(glyph) != Cell(Glyph("b")))
    }

    @Test("A cell keeps its style") func styles() {
        let colours: [Colour] = [
            .terminal, .palette(0), .palette(7), .palette(255), .rgb(0, 0, 0), .rgb(255, 255, 255), .rgb(1, 2, 3),
        ]
        for foreground in colours {
            for background in colours {
                for attributes in (0...15).map({ Style.Attributes(rawValue: $0) }) {
                    let style = Style(foreground: foreground, background: background, attributes: attributes)
                    var cell = Cell(Glyph("日"), style: style)
                    #expect(cell.style == style && cell.width == 2 && cell.text == "日")
                    cell.style = .plain
                    #expect(cell == Cell(Glyph("日")))
                }
                let cell = Cell(.space, style: Style(foreground: foreground, background: background))
                let isPlain = colours[..<4].contains(foreground) && colours[..<4].contains(background)
                #expect(cell.isTrueColour == !isPlain)
            }
        }
    }

    @Test("Overwriting half of a wide character blanks the other half") func halves() {
        var surface = Surface(size: Size(columns: 6, rows: 1))
        surface.write("日本語", in: row(0, 0, 6))
        surface.write("x", in: row(1, 0, 1))
        #expect(surface.row(0).map(\.text) == [" ", "x", "本", "", "語", ""])
        surface.write("y", in: row(4, 0, 1))
        #expect(surface.row(0).map(\.text) == [" ", "x", "本", "", "y", " "])
        surface.write("日", in: row(3, 0, 3))
        #expect(surface.row(0).map(\.text) == [" ", "x", " ", "日", "", " "])
        #expect(surface.row(0).allSatisfy { $0.width != 0 || $0.text.isEmpty })
    }

    @Test("A wide character in the last column becomes a blank") func lastColumn() {
        var surface = Surface(size: Size(columns: 3, rows: 1))
        surface.draw(
            CellBlock(size: Size(columns: 1, rows: 1), cells: [Cell(Glyph("日"))]), at: Point(column: 2, row: 0),
            in: Rect(surface.size))
        #expect(surface.row(0).map(\.text) == [" ", " ", " "])
    }

    @Test("Untrusted text is harmless in a cell")
    func harmless() {
        var surface = Surface(size: Size(columns: 40, rows: 1))
        surface.write(
            "\u{1B}[2J\u{08}\u{9B}\u{202E}" + "e" + String(repeating: "\u{301}", count: 10_000), in: row(0, 0, 40))
        for cell in surface.row(0) {
            #expect(cell.text.unicodeScalars.count <= 5)
            #expect(cell.text.unicodeScalars.allSatisfy { $0.value >= 0x20 && !(0x7F...0x9F).contains($0.value) })
        }
        #expect(surface.text.unicodeScalars.count < 20)
    }

    @Test("Blocks are clipped") func blocks() {
        let cells = "abcdef".map { Cell(Glyph($0)) }
        let block = CellBlock(size: Size(columns: 3, rows: 2), cells: cells)
        var surface = Surface(size: Size(columns: 4, rows: 3))
        surface.draw(block, at: Point(column: 1, row: 1), in: Rect(column: 0, row: 0, columns: 3, rows: 2))
        #expect(surface.text == "\n ab\n")
        surface.draw(block, at: Point(column: -1, row: -1), in: Rect(surface.size))
        #expect(surface.text == "ef\n ab\n")
    }

    @Test("Surfaces are values") func values() {
        var one = Surface(size: Size(columns: 4, rows: 1))
        let two = one
        #expect(one == two)
        one.write("x", in: row(0, 0, 1))
        #expect(one != two && two.text.isEmpty)
    }

    @Test("Rectangles are divided without overlap") func rectangles() {
        var rect = Rect(Size(columns: 80, rows: 24))
        #expect(rect.takeTop(1) == Rect(column: 0, row: 0, columns: 80, rows: 1))
        #expect(rect.takeBottom(2) == Rect(column: 0, row: 22, columns: 80, rows: 2))
        #expect(rect.takeLeft(10) == Rect(column: 0, row: 1, columns: 10, rows: 21))
        #expect(rect.takeRight(100) == Rect(column: 10, row: 1, columns: 70, rows: 21))
        #expect(rect.size.isEmpty && rect.takeTop(5).size.isEmpty)
        let middle = Rect(Size(columns: 10, rows: 5)).centred(Size(columns: 4, rows: 9))
        #expect(middle == Rect(column: 3, row: 0, columns: 4, rows: 5))
    }

    @Test("Keys have names") func keyNames() {
        #expect(Key.character("q").description == "q")
        #expect(Key.control("f").description == "^F")
        #expect(Key(.pageUp).description == "PgUp" && Key(.tab, .shift).description == "S-Tab")
        #expect(Key.character(" ").description == "Space" && Key(.function(1)).description == "F1")
    }
}
