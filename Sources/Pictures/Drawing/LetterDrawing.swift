import Cells
import Glibc
import Pixels
import Text

/// Draws pixels as ASCII characters, for bright text on a dark background.
struct LetterDrawing {
    private let picture: PixelBuffer
    private let colours: ColourDepth
    private let levels: ToneLevels

    init(_ picture: PixelBuffer, _ colours: ColourDepth) {
        self.picture = picture
        self.colours = colours
        levels = ToneLevels(picture)
    }

    /// Draws each cell as the character that looks most like its six pixels.
    func shapes() -> CellBlock {
        let shapes = GlyphShapes()
        let size = Size(columns: (picture.width + 1) / 2, rows: (picture.height + 2) / 3)
        return cells(size) { column, row in
            var tones = SIMD8<Float>.zero
            var sum = PartColour.zero
            for part in 0..<6 {
                let pixel = pixel(2 * column + part % 2, 3 * row + part / 2)
                tones[part] = levels.tone(at: pixel, of: picture)
                sum = sum + colour(pixel)
            }
            return (shapes.glyph(for: tones), sum.mean(of: 6))
        }
    }

    /// Draws each pixel as one of ten characters, chosen by brightness.
    func ramp() -> CellBlock {
        let glyphs = " .:-=+*#%@".map { Glyph($0) }
        return cells(Size(columns: picture.width, rows: picture.height)) { column, row in
            let pixel = pixel(column, row)
            let tone = levels.tone(at: pixel, of: picture)
            return (glyphs[Int((tone * Float(glyphs.count - 1)).rounded())], colour(pixel))
        }
    }

    private func cells(_ size: Size, _ cell: (Int, Int) -> (Glyph, PartColour)) -> CellBlock {
        var cells: [Cell] = []
        cells.reserveCapacity(size.columns * size.rows)
        for row in 0..<size.rows {
            for column in 0..<size.columns {
                let (glyph, colour) = cell(column, row)
                cells.append(Cell(glyph, style: Style(foreground: shown(colour))))
            }
        }
        return CellBlock(size: size, cells: cells)
    }

    /// Returns the index of a pixel, or of the nearest pixel inside the picture.
    private func pixel(_ x: Int, _ y: Int) -> Int {
        min(y, picture.height - 1) * picture.width + min(x, picture.width - 1)
    }

    private func colour(_ pixel: Int) -> PartColour {
        picture.bytes.withUnsafeBufferPointer { bytes in
            PartColour(
                red: Int32(bytes[3 * pixel]), green: Int32(bytes[3 * pixel + 1]), blue: Int32(bytes[3 * pixel + 2]))
        }
    }

    private func shown(_ colour: PartColour) -> Colour {
        let (red, green, blue) = (UInt8(colour.red), UInt8(colour.green), UInt8(colour.blue))
        switch colours {
        case .none: return .terminal
        case .eight, .sixteen:
            let count = colours == .eight ? 8 : 16
            return .palette(Palette.nearest(ofFirst: count, red: Int(red), green: Int(green), blue: Int(blue)))
        case .palette: return .palette(Palette.nearest(red: red, green: green, blue: blue))
        case .full: return .rgb(red, green, blue)
        }
    }
}

/// The shapes of ASCII characters: the amount of ink in each sixth of a cell.
///
/// Characters of the right shape draw an edge without steps. `Tools/Scripts/measure-glyph-shapes` measured the numbers
/// on DejaVu Sans Mono; other terminal fonts differ little at this resolution.
struct GlyphShapes {
    /// The characters, in the order of `shapes`.
    private let glyphs: [Glyph]
    /// For each character, the brightness of six parts in two columns and three rows. The numbers are relative to the
    /// mean of the brightest character. A seventh element gives the mean as much weight as all parts together.
    private let shapes: [SIMD8<Float>]

    init() {
        glyphs = (32...126).map { Glyph(Character(Unicode.Scalar(UInt8($0)))) }
        shapes = Self.table.split(whereSeparator: \.isWhitespace).map { digits in
            // A digit counts thirtieths of the sixth. No character fills more than 0.27 of its cell.
            var parts = SIMD8<Float>.zero
            for (part, digit) in digits.enumerated() { parts[part] = Float(digit.hexDigitValue ?? 0) / 30 / 0.27 }
            return Self.weighted(parts)
        }
    }

    /// Returns the character that looks most like six tones between 0 and 1. The mean has as much weight as all parts
    /// together.
    ///
    /// - Parameter tones: six tones, then zeros.
    func glyph(for tones: SIMD8<Float>) -> Glyph {
        let wanted = Self.weighted(tones)
        var best = 0
        var bestDistance = Float.infinity
        shapes.withUnsafeBufferPointer { shapes in
            for index in shapes.indices {
                let difference = shapes[index] - wanted
                let distance = (difference * difference).sum()
                if distance < bestDistance { (best, bestDistance) = (index, distance) }
            }
        }
        return glyphs[best]
    }

    /// Adds the weighted mean as a seventh element. Six times the squared difference of the means equals the squared
    /// difference of the sums divided by √6.
    private static func weighted(_ parts: SIMD8<Float>) -> SIMD8<Float> {
        var weighted = parts
        weighted[6] = parts.sum() / Float(6).squareRoot()
        return weighted
    }

    private static let table = """
        000000 224422 442200 34ff33 358a57 60aa06 53c967 221100 148124 411842 445500 008911 000053 003300 000022 044560
        66cc55 442846 563874 562b55 16bd04 646955 54d955 572840 66bb66 669d44 002222 002253 00a902 00bb00 009a20 463621
        45db89 44cc44 76cc66 55a045 75aa74 75c465 65c440 55a756 55dd44 565555 260a64 55f845 50a065 77ee44 74de46 66aa55
        76c840 66aa58 76db44 647855 775522 55aa55 559933 44ff55 559944 557722 485666 437253 406306 341836 442200 000055
        310000 009c66 50cb65 00a444 05bc56 00da54 258621 00bc8b 50bb44 126645 023856 50c944 718124 00ee55 00bb44 00bb55
        00cbb5 00ac5b 00a540 009845 40b324 009956 009933 00cc55 009944 009984 006964 258436 224444 524863 005500
        """
}

/// Stretches a picture's tones to the full range. Otherwise, fog would be drawn as a single letter.
struct ToneLevels {
    /// For each brightness, a level from 0 for the darkest to 1 for the brightest.
    private let levels: [Float]
    /// For each brightness, a level for letters, which darkens middle tones.
    private let tones: [Float]

    /// Finds the range of a picture's tones. Ignores the darkest and the brightest hundredth, so that a single lamp
    /// does not keep the rest dark.
    init(_ picture: PixelBuffer) {
        var histogram = [Int](repeating: 0, count: 256)
        for pixel in 0..<picture.width * picture.height { histogram[Self.brightness(pixel, picture)] += 1 }
        let outliers = picture.width * picture.height / 100
        let low = Self.level(histogram, passing: outliers, from: Array(0...255))
        let high = Self.level(histogram, passing: outliers, from: (0...255).reversed())
        // At most fourfold, so that noise on a white wall stays invisible.
        let spread = max(64, high - low)
        let darkest = max(0, min(low, 255 - spread))
        levels = (0...255).map { min(1, max(0, Float($0 - darkest) / Float(spread))) }
        tones = levels.map { pow($0, 1.4) }
    }

    /// Returns the brightness of a pixel, from 0 (darkest) to 1 (brightest).
    func brightness(at pixel: Int, of picture: PixelBuffer) -> Float { levels[Self.brightness(pixel, picture)] }

    /// Returns the tone of a pixel for letters. Letters fill little of their cells, so middle tones are darkened to
    /// keep contrast with bright ones.
    func tone(at pixel: Int, of picture: PixelBuffer) -> Float { tones[Self.brightness(pixel, picture)] }

    /// Returns a pixel's brightness in sRGB's own steps. The eye sees these steps as about equal.
    private static func brightness(_ pixel: Int, _ picture: PixelBuffer) -> Int {
        picture.bytes.withUnsafeBufferPointer { bytes in
            (299 * Int(bytes[3 * pixel]) + 587 * Int(bytes[3 * pixel + 1]) + 114 * Int(bytes[3 * pixel + 2]) + 500)
                / 1_000
        }
    }

    private static func level(_ histogram: [Int], passing count: Int, from levels: [Int]) -> Int {
        var passed = 0
        for level in levels {
            passed += histogram[level]
            if passed > count { return level }
        }
        return levels[levels.count - 1]
    }
}
