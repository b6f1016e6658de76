import Cells
import PictureTestSupport
import Pixels
import TestSupport
import Testing
import Text

@testable import Pictures

@Suite struct BlockDrawingTests {
    private static let blocks: [DrawingStyle.Symbols] = [.half, .quadrant, .sextant]

    private func draw(
        _ picture: PixelBuffer, _ symbols: DrawingStyle.Symbols, _ depth: ColourDepth = .full
    ) -> CellBlock {
        SymbolDrawing.draw(picture, DrawingStyle(symbols: symbols, colours: depth, cellAspect: 0.5))
    }

    /// A cell with red parts as in the pattern, and blue ones elsewhere.
    private func picture(_ pattern: Int, _ symbols: DrawingStyle.Symbols) -> PixelBuffer {
        let parts = symbols.pixelsPerCell
        return PixelBuffer(width: parts.columns, height: parts.rows) { x, y in
            pattern >> (y * parts.columns + x) & 1 == 1
                ? PixelColor(red: 250, green: 10, blue: 0) : PixelColor(red: 0, green: 20, blue: 240)
        }
    }

    @Test(arguments: blocks) func everyPatternHasItsCharacter(symbols: DrawingStyle.Symbols) {
        let count = symbols.pixelsPerCell.columns * symbols.pixelsPerCell.rows
        let glyphs = BlockGlyphs(symbols).glyphs
        #expect(glyphs.count == 1 << count && Set(glyphs).count == glyphs.count)
        #expect(glyphs.allSatisfy { $0.width == 1 && $0.text.unicodeScalars.count == 1 })
        for pattern in 0..<1 << count {
            let cell = draw(picture(pattern, symbols), symbols).cells[0]
            let (front, behind) = (
                cell.style.foreground == .rgb(250, 10, 0), cell.style.background == .rgb(250, 10, 0)
            )
            let shown = glyphs.firstIndex { $0.text == cell.text } ?? -1
            #expect((behind ? ((1 << count) - 1) & ~shown : front ? shown : 0) == pattern)
        }
    }

    @Test func sextantsMatchUnicode() {
        let glyphs = BlockGlyphs(.sextant).glyphs.map(\.text)
        // BLOCK SEXTANT-1 and -23456; around the omitted ones, -35 and -235, -146 and -1246.
        #expect(glyphs[0b000001] == "\u{1FB00}" && glyphs[0b111110] == "\u{1FB3B}")
        #expect(glyphs[0b010100] == "\u{1FB13}" && glyphs[0b010110] == "\u{1FB14}")
        #expect(glyphs[0b101001] == "\u{1FB27}" && glyphs[0b101011] == "\u{1FB28}")
        #expect(glyphs[0b010101] == "▌" && glyphs[0b101010] == "▐")
    }

    /// No other division is closer to the cell than the chosen one.
    @Test(arguments: blocks) func findsTheBestDivision(symbols: DrawingStyle.Symbols) {
        let parts = symbols.pixelsPerCell
        let count = parts.columns * parts.rows
        for seed in 1...200 {
            let noise = PixelBuffer.noise(width: parts.columns, height: parts.rows, seed: UInt64(seed))
            let pixels = (0..<count).map { noise.color($0 % parts.columns, $0 / parts.columns) }
            let least = (0..<1 << count).map { error(of: pixels, divided: $0) }.min() ?? 0
            let total = pixels.map(part).reduce(.zero, +)
            var split = TwoColourSplit(count: count)
            let chosen = split.pattern(pixels.map(part), total: total)
            #expect(abs(error(of: pixels, divided: chosen) - least) < 1e-6 * (1 + least))
        }
    }

    private func part(_ colour: PixelColor) -> PartColour {
        PartColour(red: Int32(colour.red), green: Int32(colour.green), blue: Int32(colour.blue))
    }

    /// The squared distances from the means of both sides.
    private func error(of pixels: [PixelColor], divided pattern: Int) -> Double {
        [0, 1].reduce(0) { sum, side in
            let group = pixels.indices.filter { pattern >> $0 & 1 == side }.map { pixels[$0] }
            return [\PixelColor.red, \.green, \.blue].reduce(sum) { sum, channel in
                let values = group.map { Double($0[keyPath: channel]) }
                let mean = values.reduce(0, +) / Double(max(1, values.count))
                return values.reduce(sum) { $0 + ($1 - mean) * ($1 - mean) }
            }
        }
    }

    /// Outside the picture is the terminal's background, for any number of missing parts.
    @Test func edgesAreExact() {
        let red = PixelBuffer(width: 3, height: 4) { _, _ in PixelColor(red: 200, green: 0, blue: 0) }
        let block = draw(red, .sextant)
        #expect(block.size == Size(columns: 2, rows: 2))
        #expect(block[0, 0].text == " " && block[0, 0].style.background == .rgb(200, 0, 0))
        #expect(block[1, 0].text == "▌" && block[0, 1].text == "\u{1FB02}" && block[1, 1].text == "\u{1FB00}")
        for (column, row) in [(1, 0), (0, 1), (1, 1)] {
            #expect(block[column, row].style == Style(foreground: .rgb(200, 0, 0)))
        }
    }

    /// Without colours, brightness determines the number of dots.
    @Test(arguments: blocks) func dotsMatchTheBrightness(symbols: DrawingStyle.Symbols) {
        let parts = symbols.pixelsPerCell
        let grey = PixelBuffer(width: 64 * parts.columns, height: 32 * parts.rows) { x, _ in
            let value = UInt8(x * 4 / parts.columns)
            return PixelColor(red: value, green: value, blue: value)
        }
        let block = draw(grey, symbols, .none)
        #expect(block.cells.allSatisfy { $0.style == .plain })
        let glyphs = BlockGlyphs(symbols).glyphs.map(\.text)
        func share(_ columns: Range<Int>) -> Double {
            var bright = 0
            for column in columns {
                for row in 0..<32 { bright += (glyphs.firstIndex(of: block[column, row].text) ?? 0).nonzeroBitCount }
            }
            return Double(bright) / Double(columns.count * 32 * parts.columns * parts.rows)
        }
        #expect(share(0..<4) < 0.1 && abs(share(28..<36) - 0.5) < 0.06 && share(60..<64) > 0.9)
    }

    /// Dark text on a light background shows the same picture. Outside the picture, there are no dots.
    @Test(arguments: blocks) func dotsAreDarkOnALightTerminal(symbols: DrawingStyle.Symbols) {
        let parts = symbols.pixelsPerCell
        let glyphs = BlockGlyphs(symbols).glyphs.map(\.text)
        let picture = PixelBuffer.scene(width: 20 * parts.columns + 1, height: 10 * parts.rows + 1)
        var style = DrawingStyle(symbols: symbols, colours: .none, cellAspect: 0.5)
        let onDark = SymbolDrawing.draw(picture, style)
        style.isOnLight = true
        let onLight = SymbolDrawing.draw(picture, style)
        #expect(onLight.size == onDark.size && onLight.cells.allSatisfy { $0.style == .plain })
        for row in 0..<onDark.size.rows {
            for column in 0..<onDark.size.columns {
                var present = 0
                for part in 0..<parts.columns * parts.rows {
                    let x = column * parts.columns + part % parts.columns
                    let y = row * parts.rows + part / parts.columns
                    if x < picture.width, y < picture.height { present |= 1 << part }
                }
                let dark = glyphs.firstIndex(of: onDark[column, row].text) ?? -1
                let light = glyphs.firstIndex(of: onLight[column, row].text) ?? -1
                #expect(dark ^ light == present, "\(column) \(row)")
            }
        }
    }

    @Test(arguments: blocks, [ColourDepth.eight, .sixteen, .palette])
    func coloursOfThePaletteStayThemselves(symbols: DrawingStyle.Symbols, depth: ColourDepth) {
        let parts = symbols.pixelsPerCell
        for index in depth == .palette ? [16, 52, 100, 231, 240] : [0, 1, 3, 6, 7] as [UInt8] {
            let (red, green, blue) = Colour.usualValues(ofPalette: index)
            let flat = PixelBuffer(width: 4 * parts.columns, height: 4 * parts.rows) { _, _ in
                PixelColor(red: red, green: green, blue: blue)
            }
            let block = draw(flat, symbols, depth)
            #expect(block.cells.allSatisfy { $0.text == " " && $0.style == Style(background: .palette(index)) })
        }
    }

    /// A colour between two others is mixed from both.
    @Test(arguments: blocks) func mixesFewColours(symbols: DrawingStyle.Symbols) {
        let parts = symbols.pixelsPerCell
        let grey = PixelBuffer(width: 40 * parts.columns, height: 40 * parts.rows) { _, _ in
            PixelColor(red: 178, green: 178, blue: 178)
        }
        let block = draw(grey, symbols, .sixteen)
        let glyphs = BlockGlyphs(symbols).glyphs.map(\.text)
        var sums = SIMD3<Double>.zero
        for cell in block.cells {
            let share =
                Double((glyphs.firstIndex(of: cell.text) ?? 0).nonzeroBitCount) / Double(parts.columns * parts.rows)
            sums += colour(cell.style.foreground) * share + colour(cell.style.background) * (1 - share)
        }
        let mean = sums / 1_600
        #expect(abs(mean.x - 178) < 15 && abs(mean.y - 178) < 15 && abs(mean.z - 178) < 15, "\(mean)")
        // Only the two neighbouring colours.
        #expect(Set(block.cells.map(\.style.background)) == [.palette(7), .palette(8)])
    }

    private func colour(_ colour: Colour) -> SIMD3<Double> {
        guard case .palette(let index) = colour, index < 16 else { return .zero }
        let (red, green, blue) = Colour.usualValues(ofPalette: index)
        return SIMD3(Double(red), Double(green), Double(blue))
    }

    /// Two wide stripes, which become brighter with each frame.
    private func frame(_ number: Int, _ symbols: DrawingStyle.Symbols) -> CellBlock {
        let parts = symbols.pixelsPerCell
        let picture = PixelBuffer(width: 40 * parts.columns, height: 10 * parts.rows) { x, _ in
            let shade = UInt8(40 + number + x / 8 + (x < 20 * parts.columns ? 0 : 90))
            return PixelColor(red: shade, green: shade / 2, blue: 200)
        }
        return draw(picture, symbols)
    }

    @Test("A video's colours stay near the true ones, however long they change slowly", arguments: blocks)
    func steadiedFramesStayTrue(symbols: DrawingStyle.Symbols) {
        var shown: CellBlock?
        var kept = 0
        for number in 0..<60 {
            let whole = frame(number, symbols)
            let steadied = whole.steadied(after: shown)
            for (cell, exact) in zip(steadied.cells, whole.cells) {
                #expect(cell.text == exact.text)
                #expect(difference(cell.style.foreground, exact.style.foreground) <= 2)
                #expect(difference(cell.style.background, exact.style.background) <= 2)
            }
            if let shown { kept += zip(steadied.cells, shown.cells).filter { $0 == $1 }.count }
            shown = steadied
        }
        // Each shade changes by one, so two of three frames may keep it.
        #expect(kept > 59 * 400 / 2, "\(kept)")
    }

    @Test("A video's frame needs fewer colour changes in a row", arguments: blocks)
    func steadiedFramesHaveFewColours(symbols: DrawingStyle.Symbols) {
        func changes(_ block: CellBlock) -> Int {
            zip(block.cells, block.cells.dropFirst()).filter { $0.style != $1.style }.count
        }
        let whole = frame(0, symbols)
        #expect(changes(whole.steadied(after: nil)) * 2 < changes(whole))
    }

    @Test("A frame of another size takes no colours from the previous one")
    func steadiedFramesOfAnotherSize() {
        let small = draw(picture(0b01, .half), .half)
        #expect(small.steadied(after: frame(0, .half)) == small)
    }

    @Test("Colours of a palette stay exact in a video")
    func steadiedPalette() {
        let flat = PixelBuffer(width: 4, height: 4) { x, _ in PixelColor(red: UInt8(80 * x), green: 0, blue: 0) }
        let block = draw(flat, .half, .palette)
        let other = CellBlock(
            size: block.size,
            cells: block.cells.map { cell in
                guard case .palette(let index) = cell.style.background else { return cell }
                return Cell(Glyph(Character(cell.text)), style: Style(background: .palette(index + 1)))
            })
        #expect(block.steadied(after: other) == block)
    }

    /// The greatest difference of red, green or blue.
    private func difference(_ one: Colour, _ other: Colour) -> Int {
        guard case .rgb(let red, let green, let blue) = one,
            case .rgb(let otherRed, let otherGreen, let otherBlue) = other
        else { return one == other ? 0 : 255 }
        let differences = [(red, otherRed), (green, otherGreen), (blue, otherBlue)].map { abs(Int($0) - Int($1)) }
        return differences.max() ?? 0
    }

    @Test func theTerminalDecidesWhich() {
        #expect(DrawingStyle(Capabilities()).symbols == .half)
        #expect(DrawingStyle(Capabilities(sextants: true)).symbols == .sextant)
        #expect(DrawingStyle(Capabilities(unicode: false, sextants: true)).symbols == .ascii)
        #expect(DrawingStyle(Capabilities(colours: .none, sextants: true)).symbols == .ascii)
        let pixels = PixelCapabilities(.kitty, cellWidth: 9, cellHeight: 20)
        let style = DrawingStyle(Capabilities(pixels: pixels))
        #expect(style.pixels == pixels && style.cellAspect == 0.45 && abs(style.pixelAspect - 1) < 1e-12)
    }
}
