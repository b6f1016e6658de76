import Text

/// What ASCII characters look like from afar: how much of each sixth of its cell a character fills.
///
/// Drawn with characters of the right shape, an edge is an edge and not a stair. The numbers were measured on DejaVu Sans
/// Mono, by `Tools/Scripts/measure-glyph-shapes`; other fonts for terminals differ little at this distance.
struct GlyphShapes {
    /// The characters.
    private let glyphs: [Glyph]
    /// How bright the six parts of each are: two columns, three rows; 1 for the brightest character's average. Behind them
    /// stands what makes the mean count as much as all of them.
    private let shapes: [SIMD8<Float>]

    init() {
        glyphs = (32...126).map { Glyph(Character(Unicode.Scalar(UInt8($0)))) }
        shapes = Self.table.split(whereSeparator: \.isWhitespace).map { digits in
            // A digit is a thirtieth of the sixth; no character fills more than 0.27 of its cell.
            var parts = SIMD8<Float>.zero
            for (part, digit) in digits.enumerated() { parts[part] = Float(digit.hexDigitValue ?? 0) / 30 / 0.27 }
            return Self.weighted(parts)
        }
    }

    /// The character that looks most like six tones, each 0…1. That it is as bright as they are counts as much as that
    /// every part is.
    ///
    /// - Parameter tones: the tones, and behind them nothing.
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

    /// Six times the square of the means' difference is that of the sums by the root of six.
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
