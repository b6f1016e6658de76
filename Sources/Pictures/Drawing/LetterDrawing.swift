import Cells
import Pixels
import Text

/// Draws pixels as ASCII characters.
///
/// A character fills at most a third of its cell, so without colours, bright cells use reverse video. With colours,
/// each cell gets a text colour and a background whose mixture is the cell's mean colour. Each cell passes its error on
/// to its neighbours, with Floyd and Steinberg's weights, so that intermediate tones appear.
struct LetterDrawing {
    private let tones: LetterTones
    private let shapes: GlyphShapes
    private let style: DrawingStyle

    init(_ picture: PixelBuffer, _ style: DrawingStyle) {
        self.style = style
        shapes = style.symbols == .ramp ? .ramp : .all
        tones = LetterTones(picture, style.symbols.pixelsPerCell, hasColours: style.colours != .none)
    }

    /// Draws each cell as the character that looks most like its pixels.
    func cells() -> CellBlock {
        switch style.colours {
        case .none: cells(InkFitting(shapes, style))
        case .eight, .sixteen: cells(FewInksFitting(shapes, style.colours))
        case .palette, .full: cells(InksFitting(shapes, style.colours))
        }
    }

    private func cells(_ fitting: some LetterFitting) -> CellBlock {
        var fitting = fitting
        let size = tones.size
        var cells: [Cell] = []
        cells.reserveCapacity(size.columns * size.rows)
        // The errors to add to the cells of this row and the next. One more column on either side absorbs the errors at
        // the edges.
        var here = [SIMD4<Float>](repeating: .zero, count: size.columns + 2)
        var below = here
        for row in 0..<size.rows {
            for column in 0..<size.columns {
                let (cell, error) = fitting.fit(tones.parts(column, row) + here[column + 1])
                cells.append(cell)
                let sixteenth = error * (fitting.share / 16)
                here[column + 2] += sixteenth * 7
                below[column] += sixteenth * 3
                below[column + 1] += sixteenth * 5
                below[column + 2] += sixteenth
            }
            swap(&here, &below)
            for index in below.indices { below[index] = .zero }
        }
        return CellBlock(size: size, cells: cells)
    }
}

/// The six parts of a cell, in two columns and three rows. Brightness and colour are from 0 to 1, on the scale of sRGB
/// values.
struct LetterParts {
    /// The brightness of each part, followed by two zeros.
    var tone: SIMD8<Float>
    var red: SIMD8<Float>
    var green: SIMD8<Float>
    var blue: SIMD8<Float>

    /// The number 1 for each part, followed by two zeros.
    static let ones = SIMD8<Float>(1, 1, 1, 1, 1, 1, 0, 0)

    /// The mean red, green, blue and brightness.
    var mean: SIMD4<Float> { SIMD4(red.sum(), green.sum(), blue.sum(), tone.sum()) / 6 }

    /// Adds an amount of red, green, blue and brightness to each part.
    static func + (parts: LetterParts, more: SIMD4<Float>) -> LetterParts {
        LetterParts(
            tone: parts.tone + ones * more.w, red: parts.red + ones * more.x, green: parts.green + ones * more.y,
            blue: parts.blue + ones * more.z)
    }
}

/// The pixels of a picture as parts of cells, with the contrast that letters need.
struct LetterTones {
    /// The number of cells.
    let size: Size
    private let picture: PixelBuffer
    private let columns: Int
    private let rows: Int
    private let hasColours: Bool
    /// The brightness of the parts of each cell, row by row.
    private var tones: [SIMD8<Float>] = []
    /// The mean brightness around each cell.
    private var surroundings: [Float] = []

    /// The fraction by which a cell's difference from its surroundings grows. A larger fraction would draw halos.
    private let sharpness: Float
    /// The limits of the factor for the contrast of the whole picture. A larger factor would show the noise on a white
    /// wall.
    private let contrast: ClosedRange<Float>

    /// Prepares a picture.
    ///
    /// - Parameter hasColours: whether the parts need colours. Without colours, the initialiser spreads the tones over
    ///   more of the range and keeps the picture's mean. Without this, mist would be drawn as a single letter.
    init(_ picture: PixelBuffer, _ pixelsPerCell: (columns: Int, rows: Int), hasColours: Bool) {
        self.picture = picture
        self.hasColours = hasColours
        (columns, rows) = pixelsPerCell
        size = Size(
            columns: (picture.width + columns - 1) / columns, rows: (picture.height + rows - 1) / rows)
        let count = size.columns * size.rows
        // A picture of few cells shows no shades, so it needs more contrast. The value is 0 for large pictures and 1
        // for small ones.
        let smallness = min(1, max(0, (1_600 - Float(count)) / 1_400))
        sharpness = 0.2 + 0.4 * smallness
        contrast = (1.1 + 0.4 * smallness)...(1.5 + smallness)
        tones.reserveCapacity(count)
        for row in 0..<size.rows {
            for column in 0..<size.columns { tones.append(Self.brightness(colours(column, row))) }
        }
        let means = tones.map { $0.sum() / 6 }
        surroundings = surroundings(means)
        if !hasColours { stretch(means) }
    }

    /// Returns the parts of a cell.
    func parts(_ column: Int, _ row: Int) -> LetterParts {
        let place = row * size.columns + column
        guard hasColours else { return LetterParts(tone: tones[place], red: .zero, green: .zero, blue: .zero) }
        let change = (tones[place] - surroundings[place] * LetterParts.ones) * sharpness
        let (red, green, blue) = colours(column, row)
        return LetterParts(
            tone: Self.held(tones[place] + change), red: Self.held(red + change), green: Self.held(green + change),
            blue: Self.held(blue + change))
    }

    /// Returns the red, green and blue of a cell's parts. A part beyond the edge copies the nearest pixel.
    @inline(__always)
    private func colours(_ column: Int, _ row: Int) -> (SIMD8<Float>, SIMD8<Float>, SIMD8<Float>) {
        picture.bytes.withUnsafeBufferPointer { bytes in
            let left = 3 * min(column * columns, picture.width - 1)
            let right = 3 * min(column * columns + columns - 1, picture.width - 1)
            let (top, bottom) = (row * rows, picture.height - 1)
            let step = 3 * picture.width
            let first = min(top, bottom) * step
            let second = min(top + rows / 2, bottom) * step
            let third = min(top + rows - 1, bottom) * step
            @inline(__always) func channel(_ channel: Int) -> SIMD8<Float> {
                let whole = SIMD8<UInt8>(
                    bytes[first + left + channel], bytes[first + right + channel], bytes[second + left + channel],
                    bytes[second + right + channel], bytes[third + left + channel], bytes[third + right + channel],
                    0, 0)
                return SIMD8<Float>(whole) / 255
            }
            return (channel(0), channel(1), channel(2))
        }
    }

    private static func brightness(
        _ colours: (red: SIMD8<Float>, green: SIMD8<Float>, blue: SIMD8<Float>)
    ) -> SIMD8<Float> {
        colours.red * 0.299 + colours.green * 0.587 + colours.blue * 0.114
    }

    /// Strengthens the contrast of cells to their surroundings, and of the whole picture.
    private mutating func stretch(_ means: [Float]) {
        let count = Float(max(1, means.count))
        let mean = means.reduce(0, +) / count
        let wanted = 1 / max(0.05, Self.range(of: means))
        let factor = min(contrast.upperBound, max(contrast.lowerBound, wanted))
        var sum = SIMD8<Float>.zero
        for place in tones.indices {
            let around = (surroundings[place] - mean) * sharpness
            let tone = (tones[place] - mean * LetterParts.ones) * (1 + sharpness)
            tones[place] = Self.held((tone - around * LetterParts.ones) * factor + mean * LetterParts.ones)
            sum += tones[place]
        }
        // Clipping tones has changed the mean. Shift all tones to restore it.
        for _ in 0..<2 {
            let shift = (mean - sum.sum() / (6 * count)) * LetterParts.ones
            sum = .zero
            for place in tones.indices {
                tones[place] = Self.held(tones[place] + shift)
                sum += tones[place]
            }
        }
    }

    /// Returns the range of tones. Ignores the brightest and the darkest fiftieth of the cells.
    private static func range(of means: [Float]) -> Float {
        var counts = [Int](repeating: 0, count: 256)
        for mean in means { counts[min(255, max(0, Int(mean * 255)))] += 1 }
        func passed(_ levels: some Sequence<Int>) -> Int {
            var rest = means.count / 50
            return levels.first {
                rest -= counts[$0]
                return rest < 0
            } ?? 0
        }
        return Float(passed((0...255).reversed()) - passed(0...255)) / 255
    }

    private static func held(_ tones: SIMD8<Float>) -> SIMD8<Float> {
        tones.clamped(lowerBound: .zero, upperBound: LetterParts.ones)
    }

    /// Returns the mean tone around each cell.
    private func surroundings(_ means: [Float]) -> [Float] {
        // The radius is about a sixteenth of the picture's shorter side, counted in parts: two in a cell's width and
        // three in its height.
        let radius = max(2, min(2 * size.columns, 3 * size.rows) / 16)
        var tones = means
        for _ in 0..<2 {
            tones = Self.boxed(tones, size.columns, size.rows, step: 1, lineStep: size.columns, max(1, radius / 2))
            tones = Self.boxed(tones, size.rows, size.columns, step: size.columns, lineStep: 1, max(1, radius / 3))
        }
        return tones
    }

    /// Returns the mean of each tone and its neighbours in a line.
    private static func boxed(
        _ tones: [Float], _ length: Int, _ lines: Int, step: Int, lineStep: Int, _ radius: Int
    ) -> [Float] {
        var result = tones
        for line in 0..<lines {
            let start = line * lineStep
            var (sum, count) = (Float(0), Float(0))
            for place in 0..<min(radius, length) {
                sum += tones[start + place * step]
                count += 1
            }
            for place in 0..<length {
                if place + radius < length {
                    sum += tones[start + (place + radius) * step]
                    count += 1
                }
                if place > radius {
                    sum -= tones[start + (place - radius - 1) * step]
                    count -= 1
                }
                result[start + place * step] = sum / count
            }
        }
        return result
    }
}

/// The shapes of ASCII characters: the amount of ink in each sixth of a cell.
///
/// Characters of the right shape draw an edge without steps. `Tools/Scripts/measure-glyph-shapes` measured the numbers
/// on DejaVu Sans Mono; other terminal fonts differ little at this resolution. The numbers lie in groups of eight
/// characters, which are compared at once.
struct GlyphShapes {
    /// Eight characters of a set.
    struct Group {
        /// A number for each of the eight characters.
        typealias Numbers = SIMD8<Float>

        /// The ink in each of the six parts, from 0 to 1.
        fileprivate let parts: (Numbers, Numbers, Numbers, Numbers, Numbers, Numbers)
        /// The mean ink of the six parts.
        let mean: Numbers
        /// The variance of the ink in the six parts.
        let variance: Numbers
        /// The term of a distance that does not depend on the requested ink. The term is infinite where a group has no
        /// character.
        let constant: Numbers

        /// Returns the weighted sum of the ink in all parts.
        @inline(__always) func sum(_ weights: SIMD8<Float>) -> Numbers {
            // These are single statements, because the compiler takes seconds to infer the type of one long sum.
            var sum = parts.0 * weights[0]
            sum += parts.1 * weights[1]
            sum += parts.2 * weights[2]
            sum += parts.3 * weights[3]
            sum += parts.4 * weights[4]
            sum += parts.5 * weights[5]
            return sum
        }
    }

    /// All printable characters.
    static let all = GlyphShapes((32...126).map { UInt8($0) }, hasShapes: true)
    /// Ten characters that differ in brightness.
    static let ramp = GlyphShapes(Array(" .:-=+*#%@".utf8), hasShapes: false)

    let groups: [Group]
    /// The ink of the densest character.
    let most: Float
    private let glyphs: [Glyph]
    /// For each character, the ink in six parts.
    private let shapes: [SIMD8<Float>]

    /// The weight of the mean ink in a distance, relative to all parts together.
    private static let meanWeight: Float = 0.5

    private init(_ characters: [UInt8], hasShapes: Bool) {
        let digits = Self.table.split(whereSeparator: \.isWhitespace)
        let shapes = characters.map { character in
            var shape = SIMD8<Float>.zero
            // Each digit is the ink in one part of the cell, in thirtieths.
            for (part, digit) in digits[Int(character) - 32].enumerated() {
                shape[part] = Float(digit.hexDigitValue ?? 0) / 30
            }
            return hasShapes ? shape : shape.sum() / 6 * LetterParts.ones
        }
        self.shapes = shapes
        glyphs = characters.map { Glyph(Character(Unicode.Scalar($0))) }
        most = shapes.map { $0.sum() / 6 }.max() ?? 0
        groups = stride(from: 0, to: shapes.count, by: 8).map { start in
            let present = shapes[start..<min(start + 8, shapes.count)]
            func numbers(absent: Float = 0, _ number: (SIMD8<Float>) -> Float) -> Group.Numbers {
                var numbers = Group.Numbers(repeating: absent)
                for (lane, shape) in present.enumerated() { numbers[lane] = number(shape) }
                return numbers
            }
            let mean = numbers { $0.sum() / 6 }
            let squares = numbers(absent: .infinity) { ($0 * $0).sum() / 6 }
            return Group(
                parts: (
                    numbers { $0[0] }, numbers { $0[1] }, numbers { $0[2] }, numbers { $0[3] }, numbers { $0[4] },
                    numbers { $0[5] }
                ), mean: mean, variance: squares - mean * mean, constant: squares + Self.meanWeight * mean * mean)
        }
    }

    /// Returns a character by its index.
    func glyph(_ index: Int) -> Glyph { glyphs[index] }

    /// Returns the share of its cell that a character fills.
    func ink(_ index: Int) -> Float { shapes[index].sum() / 6 }

    /// Returns the ink in each part of a character's cell, minus the mean.
    func relief(_ index: Int) -> SIMD8<Float> { shapes[index] - ink(index) * LetterParts.ones }

    /// Returns the character whose ink is most like the requested ink, and the distance.
    func nearest(to wanted: SIMD8<Float>) -> (index: Int, distance: Float) {
        let mean = wanted.sum() / 6
        // The distance is the mean square of the differences, plus the weighted square of the difference of the means.
        // `pull` is for the terms that contain both the requested ink and the character's ink.
        let pull = (wanted + Self.meanWeight * mean * LetterParts.ones) / 3
        let found = best { $0.constant - $0.sum(pull) }
        return (found.index, found.cost + (wanted * wanted).sum() / 6 + Self.meanWeight * mean * mean)
    }

    /// Returns the character with the lowest cost.
    ///
    /// - Parameter cost: returns the costs of eight characters.
    @inline(__always)
    func best(_ cost: (Group) -> SIMD8<Float>) -> (index: Int, cost: Float) {
        var least = SIMD8<Float>(repeating: .infinity)
        var place = SIMD8<Int32>.zero
        for index in groups.indices {
            let found = cost(groups[index])
            let isLess = found .< least
            least.replace(with: found, where: isLess)
            place.replace(with: SIMD8(repeating: Int32(index)), where: isLess)
        }
        let minimum = least.min()
        for lane in 0..<8 where least[lane] == minimum { return (8 * Int(place[lane]) + lane, minimum) }
        return (0, minimum)
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
