import Cells
import Pixels

/// A method to show the six parts of a cell as one character.
protocol LetterFitting {
    /// The fraction of a cell's error that its neighbours get.
    var share: Float { get }
    /// Returns the cell, and its error: the missing red, green, blue and brightness.
    mutating func fit(_ wanted: LetterParts) -> (cell: Cell, error: SIMD4<Float>)
}

/// Shows a cell in the terminal's own text colour. Bright cells are in reverse video.
struct InkFitting: LetterFitting {
    private let shapes: GlyphShapes
    private let reverses: Bool
    private let isOnLight: Bool

    let share: Float = 0.8

    init(_ shapes: GlyphShapes, _ style: DrawingStyle) {
        self.shapes = shapes
        (reverses, isOnLight) = (style.reverses, style.isOnLight)
    }

    func fit(_ wanted: LetterParts) -> (cell: Cell, error: SIMD4<Float>) {
        // On a light background, the text darkens its cell.
        let ink = isOnLight ? LetterParts.ones - wanted.tone : wanted.tone
        let (cell, error) = reverses ? reversing(ink) : plain(ink)
        return (cell, SIMD4(0, 0, 0, isOnLight ? -error : error))
    }

    /// Returns the best character, in normal or in reverse video.
    private func reversing(_ ink: SIMD8<Float>) -> (Cell, Float) {
        let mean = ink.sum() / 6
        // Very dark cells never look better in reverse video, and very bright cells always do.
        let plain = mean < 0.8 ? shapes.nearest(to: ink) : nil
        let reversed = mean > 0.2 ? shapes.nearest(to: LetterParts.ones - ink) : nil
        if let plain, plain.distance <= reversed?.distance ?? .infinity {
            return (Cell(shapes.glyph(plain.index)), mean - shapes.ink(plain.index))
        }
        let index = reversed?.index ?? 0
        return (
            Cell(shapes.glyph(index), style: Style(attributes: .reverse)), mean - (1 - shapes.ink(index))
        )
    }

    /// Returns the best character. The densest character represents white.
    private func plain(_ ink: SIMD8<Float>) -> (Cell, Float) {
        let found = shapes.nearest(to: ink * shapes.most)
        // Brightness beyond white is not an error, because no cell can show it.
        let error = min(1, ink.sum() / 6) - shapes.ink(found.index) / shapes.most
        return (Cell(shapes.glyph(found.index)), error)
    }
}

/// Shows a cell as a character on a background, in 256 or 24-bit colours.
///
/// The mixture of text colour and background, weighted by the ink, is the cell's mean colour. Where the cell contains a
/// shape, such as an edge, the difference of the two colours follows the shape. Elsewhere the letters stand out a
/// little: bright letters on dark cells, and dark letters on bright cells. The nearer a cell is to the middle tones,
/// the denser is its letter.
struct InksFitting: LetterFitting {
    private let shapes: GlyphShapes
    private let isPalette: Bool
    /// For each group of characters, one divided by the sum of the variance and `usualWeight`.
    private let steadiness: [SIMD8<Float>]

    /// The weight of the usual difference, relative to a difference that follows the shape.
    private static let usualWeight: Float = 0.02
    /// The usual difference of the two colours, as a fraction of the cell's distance from black or white.
    private static let usualDifference: Float = 0.6
    /// The weight of the desired density of a letter.
    private static let densityWeight: Float = 0.02

    let share: Float

    init(_ shapes: GlyphShapes, _ depth: ColourDepth) {
        self.shapes = shapes
        isPalette = depth == .palette
        // With 24-bit colours, only rounding errors remain, and a cell passes none of them on.
        share = isPalette ? 0.6 : 0
        steadiness = shapes.groups.map { 1 / ($0.variance + Self.usualWeight) }
    }

    func fit(_ wanted: LetterParts) -> (cell: Cell, error: SIMD4<Float>) {
        let mean = wanted.mean
        let held = mean.clamped(lowerBound: .zero, upperBound: .one)
        let usual = Self.usualDifference * (held.w < 0.5 ? held : held - 1)
        let index = character(wanted.tone, mean: held.w, usual: usual.w)
        let (ink, relief) = (shapes.ink(index), shapes.relief(index))
        let slope = SIMD4(
            (relief * wanted.red).sum(), (relief * wanted.green).sum(), (relief * wanted.blue).sum(), 0)
        var difference = (slope / 6 + Self.usualWeight * usual) / ((relief * relief).sum() / 6 + Self.usualWeight)
        // Limit the difference so that neither colour leaves the range while their mixture stays the same.
        let (perInk, perRest) = (1 / max(ink, 1e-3), 1 / (1 - ink))
        difference.clamp(
            lowerBound: -pointwiseMin((1 - held) * perInk, held * perRest),
            upperBound: pointwiseMin(held * perInk, (1 - held) * perRest))
        let behind = shown(held - ink * difference)
        guard ink > 0 else {
            return (Cell(shapes.glyph(index), style: Style(background: behind.colour)), held - behind.value)
        }
        let front = shown((held - (1 - ink) * behind.value) / ink)
        let cell =
            front.colour == behind.colour
            ? Cell(shapes.glyph(0), style: Style(background: behind.colour))
            : Cell(shapes.glyph(index), style: Style(foreground: front.colour, background: behind.colour))
        return (cell, held - (behind.value + ink * (front.value - behind.value)))
    }

    /// Returns the character that shows the shape of the parts best. Where there is no shape, the density decides.
    private func character(_ tones: SIMD8<Float>, mean: Float, usual: Float) -> Int {
        let density = min(1, 2 * min(mean, 1 - mean)) * shapes.most
        // The limits of the difference of the two colours, for a character of medium density.
        let (ink, rest) = (shapes.most / 2, 1 - shapes.most / 2)
        let up = SIMD8(repeating: min(mean / ink, (1 - mean) / rest))
        let down = SIMD8(repeating: -min((1 - mean) / ink, mean / rest))
        let (sixth, pull) = (tones / 6, Self.usualWeight * usual)
        var index = 0
        return shapes.best { group in
            let shared = group.sum(sixth) - group.mean * mean
            var difference = (shared + pull) * steadiness[index]
            index += 1
            difference.replace(with: up, where: difference .> up)
            difference.replace(with: down, where: difference .< down)
            let (change, sparse) = (difference - usual, group.mean - density)
            // Absent characters have an infinite variance. Their cost is then not a number, so they are never chosen.
            return difference * (difference * group.variance - 2 * shared) + Self.usualWeight * change * change
                + Self.densityWeight * sparse * sparse
        }.index
    }

    private func shown(_ colour: SIMD4<Float>) -> (colour: Colour, value: SIMD4<Float>) {
        let steps = (colour.clamped(lowerBound: .zero, upperBound: .one) * 255).rounded(.toNearestOrAwayFromZero)
        let (red, green, blue) = (UInt8(steps.x), UInt8(steps.y), UInt8(steps.z))
        guard isPalette else { return (.rgb(red, green, blue), steps / 255) }
        let index = Palette.nearest(red: red, green: green, blue: blue)
        return (.palette(index), Palette.part(index))
    }
}

/// Shows a cell as a character on a coloured background, in 8 or 16 colours.
///
/// This type chooses the pair of colours that can come nearest to the cell's mean colour, with any amount of ink. Then
/// it chooses the character whose ink is most like the cell's parts.
struct FewInksFitting: LetterFitting {
    private let shapes: GlyphShapes
    /// All pairs of colours, ordered by the background.
    private let pairs: [Pairs]
    private let colours: [SIMD4<Float>]
    /// The best pair for each of 32 steps of red, green and blue; negative until it is known. Keeping the pairs saves
    /// time, because photos repeat colours.
    private var known: [Int16]

    /// The weight of the visible grain of a pair. Pairs of similar colours show less grain.
    private static let grainWeight: Float = 0.1

    let share: Float = 0.8

    /// A background colour with eight text colours.
    private struct Pairs {
        let behind: SIMD4<Float>
        /// The red, green and blue of each text colour, minus those of the background.
        var red = SIMD8<Float>.zero
        var green = SIMD8<Float>.zero
        var blue = SIMD8<Float>.zero
        /// The squared length of each difference.
        var square = SIMD8<Float>.zero
        /// One divided by `square`; zero for the background's own colour.
        var inverse = SIMD8<Float>.zero
    }

    init(_ shapes: GlyphShapes, _ depth: ColourDepth) {
        self.shapes = shapes
        let colours = (0..<(depth == .eight ? 8 : 16)).map { Palette.part(UInt8($0)) }
        self.colours = colours
        known = Array(repeating: -1, count: 1 << 15)
        pairs = colours.flatMap { behind in
            stride(from: 0, to: colours.count, by: 8).map { start in
                var pairs = Pairs(behind: behind)
                for lane in 0..<8 {
                    let step = colours[start + lane] - behind
                    (pairs.red[lane], pairs.green[lane], pairs.blue[lane]) = (step.x, step.y, step.z)
                    let square = Self.dot(step, step)
                    pairs.square[lane] = square
                    pairs.inverse[lane] = square > 0 ? 1 / square : 0
                }
                return pairs
            }
        }
    }

    mutating func fit(_ wanted: LetterParts) -> (cell: Cell, error: SIMD4<Float>) {
        let mean = wanted.mean
        let pair = pair(mean)
        let (behind, front) = (pair / colours.count, pair % colours.count)
        let (dark, step) = (colours[behind], colours[front] - colours[behind])
        let square = Self.dot(step, step)
        guard square > 0 else {
            return (Cell(shapes.glyph(0), style: Style(background: .palette(UInt8(behind)))), mean - dark)
        }
        let ones = LetterParts.ones
        let along =
            (wanted.red - dark.x * ones) * step.x + (wanted.green - dark.y * ones) * step.y
            + (wanted.blue - dark.z * ones) * step.z
        let index = shapes.nearest(to: along / square).index
        let ink = shapes.ink(index)
        let text: Colour = ink > 0 ? .palette(UInt8(front)) : .terminal
        return (
            Cell(shapes.glyph(index), style: Style(foreground: text, background: .palette(UInt8(behind)))),
            mean - (dark + ink * step)
        )
    }

    /// Returns the number of the best pair of background and text colour.
    private mutating func pair(_ mean: SIMD4<Float>) -> Int {
        let steps = (mean.clamped(lowerBound: .zero, upperBound: .one) * 31).rounded(.toNearestOrAwayFromZero)
        let place = Int(steps.x) << 10 | Int(steps.y) << 5 | Int(steps.z)
        if known[place] < 0 { known[place] = Int16(best(for: steps / 31)) }
        return Int(known[place])
    }

    private func best(for mean: SIMD4<Float>) -> Int {
        var least = SIMD8<Float>(repeating: .infinity)
        var place = SIMD8<Int32>.zero
        for (index, group) in pairs.enumerated() {
            let rest = mean - group.behind
            let along = group.red * rest.x + group.green * rest.y + group.blue * rest.z
            let ink = (along * group.inverse).clamped(
                lowerBound: .zero, upperBound: SIMD8(repeating: shapes.most))
            let grain = Self.grainWeight * ink * (1 - ink) * group.square
            let cost = Self.dot(rest, rest) - ink * (2 * along - ink * group.square) + grain
            let isLess = cost .< least
            least.replace(with: cost, where: isLess)
            place.replace(with: SIMD8(repeating: Int32(index)), where: isLess)
        }
        let minimum = least.min()
        for lane in 0..<8 where least[lane] == minimum { return 8 * Int(place[lane]) + lane }
        return 0
    }

    private static func dot(_ one: SIMD4<Float>, _ two: SIMD4<Float>) -> Float {
        one.x * two.x + one.y * two.y + one.z * two.z
    }
}
