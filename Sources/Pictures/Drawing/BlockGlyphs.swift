import Text

/// Characters that fill some parts of their cell and leave the others, by what they fill.
///
/// A pattern has a bit for each part, the lowest for the upper left one, then to the right, then row by row.
struct BlockGlyphs {
    /// By pattern.
    let glyphs: [Glyph]

    init(_ symbols: DrawingStyle.Symbols) {
        glyphs =
            switch symbols {
            case .sextant: Self.sextants
            case .quadrant: Self.quadrants
            case .half, .ascii, .ramp: Self.halves
            }
    }

    // Made once: how wide each is is looked up, which takes longer than a small picture's cells.
    private static let sextants = (0..<64).map { Glyph(sextant($0)) }
    private static let quadrants = " ▘▝▀▖▌▞▛▗▚▐▜▄▙▟█".map { Glyph($0) }
    private static let halves = " ▀▄█".map { Glyph($0) }

    /// Unicode has sixty of them in a row, in the order of their patterns. The four that were there before are left out:
    /// nothing, all, and the left and the right half.
    private static func sextant(_ pattern: Int) -> Character {
        switch pattern {
        case 0: " "
        case 0b010101: "▌"
        case 0b101010: "▐"
        case 0b111111: "█"
        default:
            Character(
                Unicode.Scalar(
                    0x1FB00 + UInt32(pattern) - 1 - (pattern > 0b010101 ? 1 : 0) - (pattern > 0b101010 ? 1 : 0)) ?? " ")
        }
    }
}
