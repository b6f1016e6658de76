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

    /// The share of white that a cell of black and white shows.
    private func ink(_ cell: Cell) -> Float {
        let ink = GlyphShapes.all.ink(Int(cell.text.utf8.first ?? 32) - 32)
        return cell.style.attributes.contains(.reverse) ? 1 - ink : ink
    }

    @Test func lettersGetDenserWithBrightness() {
        let gradient = picture(512, 3) { x, _ in UInt8(x / 2) }
        let block = SymbolDrawing.draw(gradient, style(.ascii, .none))
        #expect(block.size == Size(columns: 256, rows: 1))
        #expect(block.cells.first == .blank)
        #expect(block.cells.last.map(ink) ?? 0 > 0.95)
        #expect(Set(block.cells.map(\.text)).count > 6)
        let means = (0..<16).map { part in block.cells[part * 16..<part * 16 + 16].reduce(0) { $0 + ink($1) } / 16 }
        #expect(zip(means, means.dropFirst()).allSatisfy { $0 <= $1 + 0.02 })
        #expect(block.cells.allSatisfy { $0.text.utf8.count == 1 })
    }

    @Test func lettersMatchTheShape() {
        func letter(_ tones: SIMD8<Float>) -> Cell {
            let parts = LetterParts(tone: tones, red: .zero, green: .zero, blue: .zero)
            return InkFitting(.all, style(.ascii, .none)).fit(parts).cell
        }
        let shapes: [(String, SIMD8<Float>)] = [
            ("_.,", [0, 0, 0, 0, 0.2, 0.2, 0, 0]), ("'^\"`*~", [0.2, 0.2, 0, 0, 0, 0, 0, 0]),
            ("-=~+", [0, 0, 0.2, 0.2, 0, 0, 0, 0]), ("])}", [0, 0.2, 0, 0.2, 0, 0.2, 0, 0]),
        ]
        for (letters, tones) in shapes {
            let bright = letter(tones)
            #expect(letters.contains(bright.text) && bright.style == .plain, "\(bright.text) for \(letters)")
            // The same shape in black on white.
            let dark = letter(LetterParts.ones - tones)
            #expect(dark.text == bright.text && dark.style.attributes == .reverse)
        }
        // A bright cell with one dark corner.
        #expect("gj_,.".contains(letter([1, 1, 1, 1, 0.7, 0.7, 0, 0]).text))
    }

    @Test("Reverse video shows bright cells, but only on terminals that have it") func reverseVideo() {
        let gradient = picture(128, 60) { x, _ in UInt8(x * 2) }
        var style = style(.ascii, .none)
        let reversed = SymbolDrawing.draw(gradient, style)
        #expect(reversed.cells.contains { $0.style.attributes == .reverse })
        #expect(reversed.cells.allSatisfy { $0.style.foreground == .terminal && $0.style.background == .terminal })
        // Dark text on a light background shows the same picture.
        style.isOnLight = true
        let onLight = SymbolDrawing.draw(gradient, style)
        for row in 0..<20 {
            #expect(reversed[0, row].style.attributes == [] && onLight[0, row].style.attributes == .reverse)
            #expect(reversed[63, row].style.attributes == .reverse && onLight[63, row].style.attributes == [])
        }
        style.isOnLight = false
        style.reverses = false
        for symbols in [DrawingStyle.Symbols.ascii, .ramp] {
            style.symbols = symbols
            let plain = SymbolDrawing.draw(gradient, style)
            #expect(plain.cells.allSatisfy { $0.style == .plain })
            #expect(plain.cells.last.map(ink) ?? 0 > 0.2)
        }
        #expect(DrawingStyle(Capabilities(unicode: false, reverses: false)).reverses == false)
    }

    /// A night with lamps, a misty morning, snow, and stripes of colours.
    private static let scenes: [@Sendable (Int, Int) -> (Int, Int, Int)] = [
        { x, y in (x % 23 < 3 && y % 17 < 4) ? (250, 220, 120) : (12 + y / 6, 14 + y / 6, 50 + y / 4) },
        { x, y in (150 + x / 4, 150 + y / 3, 160) },
        { x, y in (x - 60) * (x - 60) + (y - 60) * (y - 60) < 900 ? (70, 60, 50) : (240, 245, 250) },
        { x, y in ([(200, 30, 40), (30, 160, 60), (40, 60, 200), (230, 210, 60)][(x + y) / 20 % 4]) },
    ]

    @Test(
        "Drawings in letters are as bright as the picture", arguments: ColourDepth.allCases,
        [DrawingStyle.Symbols.ascii, .ramp])
    func meanBrightness(colours: ColourDepth, symbols: DrawingStyle.Symbols) {
        for (number, scene) in Self.scenes.enumerated() {
            let picture = PixelBuffer(width: 120, height: 120) { x, y in
                let (red, green, blue) = scene(x, y)
                return PixelColor(red: UInt8(red), green: UInt8(green), blue: UInt8(blue))
            }
            let wanted = (0..<120 * 120).reduce(Float(0)) { sum, pixel in
                let place = 3 * pixel
                return sum + brightness(picture.bytes[place], picture.bytes[place + 1], picture.bytes[place + 2])
            }
            let block = SymbolDrawing.draw(picture, style(symbols, colours))
            let shown = block.cells.reduce(Float(0)) { sum, cell in
                let ink = GlyphShapes.all.ink(Int(cell.text.utf8.first ?? 32) - 32)
                let isReversed = cell.style.attributes.contains(.reverse)
                let front = value(cell.style.foreground, unset: 1) * (isReversed ? 1 - ink : ink)
                return sum + front + value(cell.style.background, unset: 0) * (1 - ink)
            }
            let ratio = shown / Float(block.cells.count) / (wanted / (120 * 120))
            #expect((0.85...1.1).contains(ratio), "scene \(number)")
        }
    }

    private func brightness(_ red: UInt8, _ green: UInt8, _ blue: UInt8) -> Float {
        (0.299 * Float(red) + 0.587 * Float(green) + 0.114 * Float(blue)) / 255
    }

    private func value(_ colour: Colour, unset: Float) -> Float {
        switch colour {
        case .terminal: return unset
        case .rgb(let red, let green, let blue): return brightness(red, green, blue)
        case .palette(let index):
            let (red, green, blue) = Colour.usualValues(ofPalette: index)
            return brightness(red, green, blue)
        }
    }

    @Test func stretchesFogOverManyLetters() {
        let fog = picture(128, 3) { x, _ in UInt8(150 + x / 2) }
        let block = SymbolDrawing.draw(fog, style(.ascii, .none))
        #expect(Set(block.cells).count > 5)
        let restriction = picture(128, 3) { x, _ in UInt8(250 + x % 2) }
        #expect(Set(SymbolDrawing.draw(restriction, style(.ascii, .none)).cells).count <= 3)
    }

    @Test("A coloured letter and its background mix to the picture's colour") func mixture() throws {
        let colour = PixelColor(red: 180, green: 90, blue: 30)
        let flat = PixelBuffer(width: 40, height: 30) { _, _ in colour }
        for cell in SymbolDrawing.draw(flat, style(.ascii, .full)).cells {
            let ink = GlyphShapes.all.ink(Int(cell.text.utf8.first ?? 32) - 32)
            #expect(ink > 0)
            guard case .rgb(let red, let green, let blue) = cell.style.foreground,
                case .rgb(let red2, let green2, let blue2) = cell.style.background
            else {
                Issue.record("\(cell.style)")
                return
            }
            // The letter is brighter than its background, but keeps the colour.
            #expect(red > red2 && green > green2)
            for (front, behind, wanted) in [(red, red2, 180), (green, green2, 90), (blue, blue2, 30)] {
                let mixed = ink * Float(front) + (1 - ink) * Float(behind)
                #expect(abs(mixed - Float(wanted)) < 3)
            }
        }
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
        let gradient = picture(256, 2) { x, _ in UInt8(x) }
        let block = SymbolDrawing.draw(gradient, style(.ramp, .none))
        #expect(block.size == Size(columns: 256, rows: 2))
        #expect(Set(block.cells.map(\.text)) == Set(" .:-=+*#%@".map(String.init)))
        let means = (0..<16).map { part in block.cells[part * 16..<part * 16 + 16].reduce(0) { $0 + ink($1) } / 16 }
        #expect(zip(means, means.dropFirst()).allSatisfy { $0 <= $1 + 0.02 })
    }
}
