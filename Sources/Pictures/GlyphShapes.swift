import Text

/// What ASCII characters look like from afar: how much of each sixth of its cell a character fills.
///
/// Drawn with characters of the right shape, an edge is an edge and not a stair. The numbers were measured on DejaVu Sans
/// Mono, by `Scripts/measure-glyph-shapes`; other fonts for terminals differ little at this distance.
struct GlyphShapes {
    /// One character, and how bright its six parts are: two columns, three rows; 1 for the brightest character's average.
    private struct Shape {
        let glyph: Glyph
        let parts: [Float]
        let mean: Float
    }

    private let shapes: [Shape]

    init() {
        shapes = zip(Self.table.split(whereSeparator: \.isWhitespace), 32...126).map { digits, code in
            // A digit is a thirtieth of the sixth; no character fills more than 0.27 of its cell.
            let parts = digits.map { Float($0.hexDigitValue ?? 0) / 30 / 0.27 }
            return Shape(
                glyph: Glyph(Character(Unicode.Scalar(UInt8(code)))), parts: parts, mean: parts.reduce(0, +) / 6)
        }
    }

    /// The character that looks most like six tones, each 0…1. That it is as bright as they are counts as much as that
    /// every part is.
    func glyph(for tones: [Float]) -> Glyph {
        let mean = tones.reduce(0, +) / 6
        var best = Glyph.space
        var bestDistance = Float.infinity
        for shape in shapes {
            var distance = 6 * (shape.mean - mean) * (shape.mean - mean)
            for part in 0..<6 { distance += (shape.parts[part] - tones[part]) * (shape.parts[part] - tones[part]) }
            if distance < bestDistance { (best, bestDistance) = (shape.glyph, distance) }
        }
        return best
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
