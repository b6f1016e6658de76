import Cells
import PictureTestSupport
import Pixels
import TestSupport
import Testing

@testable import Pictures

@Suite struct SymbolDrawingTests {
    private func style(_ symbols: DrawingStyle.Symbols, _ colours: ColourDepth) -> DrawingStyle {
        DrawingStyle(symbols: symbols, colours: colours, cellAspect: 0.5)
    }

    private func picture(_ width: Int, _ height: Int, _ grey: (Int, Int) -> UInt8) -> PixelBuffer {
        PixelBuffer(width: width, height: height) { x, y in
            let value = grey(x, y)
            return PixelColor(red: value, green: value, blue: value)
        }
    }

    @Test func halfBlocksShowTwoPixelsACell() {
        let picture = PixelBuffer(width: 2, height: 3) { x, y in
            PixelColor(red: UInt8(100 * x), green: UInt8(50 * y), blue: 7)
        }
        let block = SymbolDrawing.draw(picture, style(.half, .full))
        #expect(block.size == Size(columns: 2, rows: 2))
        #expect(block[1, 0].text == "▀")
        #expect(block[1, 0].style == Style(foreground: .rgb(100, 0, 7), background: .rgb(100, 50, 7)))
        // Below the last row of pixels is the terminal's background.
        #expect(block[0, 1].style == Style(foreground: .rgb(0, 100, 7), background: .terminal))
    }

    @Test func flatAreasAreBlank() {
        let block = SymbolDrawing.draw(picture(4, 4) { _, _ in 200 }, style(.half, .palette))
        #expect(block.cells.allSatisfy { $0.text == " " && $0.style.background == .palette(251) })
    }

    @Test func lettersGetDenserWithBrightness() {
        let gradient = picture(128, 3) { x, _ in UInt8(x * 2) }
        let block = SymbolDrawing.draw(gradient, style(.ascii, .none))
        #expect(block.size == Size(columns: 64, rows: 1))
        #expect(block.cells.first?.text == " ")
        #expect("QB8@#MNW&$0GD".contains(block.cells.last?.text ?? " "))
        #expect(Set(block.cells.map(\.text)).count > 6)
        #expect(block.cells.allSatisfy { $0.style == .plain && $0.text.utf8.count == 1 })
    }

    @Test func lettersMatchTheShape() {
        func letter(_ tones: [UInt8]) -> String {
            // Black and white in other cells, so that the tones are not stretched.
            let ends = picture(200, 3) { x, y in
                (0...1).contains(x) ? tones[y * 2 + x] : x.isMultiple(of: 2) ? 0 : 255
            }
            return SymbolDrawing.draw(ends, style(.ascii, .none)).cells[0].text
        }
        #expect("_.,".contains(letter([0, 0, 0, 0, 200, 200])))
        #expect("'^\"`*~".contains(letter([200, 200, 0, 0, 0, 0])))
        #expect("-=~+".contains(letter([0, 0, 180, 180, 0, 0])))
        #expect(
            "[{(|lI1<".contains(letter([0, 220, 0, 220, 0, 220])) || "]})|".contains(letter([0, 220, 0, 220, 0, 220])))
    }

    @Test func stretchesFogOverAllLetters() {
        let fog = picture(128, 3) { x, _ in UInt8(150 + x / 2) }
        let block = SymbolDrawing.draw(fog, style(.ascii, .none))
        #expect(Set(block.cells.map(\.text)).count > 6)
        let restriction = picture(128, 3) { x, _ in UInt8(250 + x % 2) }
        #expect(Set(SymbolDrawing.draw(restriction, style(.ascii, .none)).cells.map(\.text)).count <= 3)
    }

    @Test func choosesTheNearestPaletteColour() {
        var random = SeededNumbers(seed: 5)
        var worse = 0
        for _ in 0..<2_000 {
            let colour = (
                UInt8.random(in: 0...255, using: &random), UInt8.random(in: 0...255, using: &random),
                UInt8.random(in: 0...255, using: &random)
            )
            let chosen = Palette.nearest(red: colour.0, green: colour.1, blue: colour.2)
            #expect(chosen >= 16)
            let distances = (16...255).map { distance(colour, colour256($0)) }
            if distance(colour, colour256(Int(chosen))) > distances.min()! * 1.6 + 200 { worse += 1 }
        }
        #expect(worse < 20)
    }

    private func colour256(_ index: Int) -> (UInt8, UInt8, UInt8) {
        guard index < 232 else {
            return (UInt8(8 + 10 * (index - 232)), UInt8(8 + 10 * (index - 232)), UInt8(8 + 10 * (index - 232)))
        }
        let levels: [UInt8] = [0, 95, 135, 175, 215, 255]
        let cube = index - 16
        return (levels[cube / 36], levels[cube / 6 % 6], levels[cube % 6])
    }

    private func distance(_ a: (UInt8, UInt8, UInt8), _ b: (UInt8, UInt8, UInt8)) -> Double {
        let (red, green, blue) = (Double(a.0) - Double(b.0), Double(a.1) - Double(b.1), Double(a.2) - Double(b.2))
        return 3 * red * red + 6 * green * green + 2 * blue * blue
    }

    @Test func rampDependsOnBrightnessAlone() {
        let gradient = picture(256, 1) { x, _ in UInt8(x) }
        let block = SymbolDrawing.draw(gradient, style(.ramp, .none))
        #expect(block.size == Size(columns: 256, rows: 1))
        var letters: [String] = []
        for cell in block.cells where letters.last != cell.text { letters.append(cell.text) }
        #expect(letters == " .:-=+*#%@".map(String.init))
    }
}
