/// What a scalar that came from outside may do to a line of text.
///
/// A terminal obeys more than it shows. Control characters move, erase and answer; bidirectional overrides and
/// tag characters make a name read as another name; a joiner or a variation selector changes the width that some
/// terminals give to its neighbours. None of them gets through as itself.
enum ScalarKind: Equatable {
    /// Stands for itself, one or two columns wide.
    case spacing(width: Int)
    /// Takes no column and sits on the glyph before it.
    case combining
    /// Says nothing that a cell could show, and is left out.
    case dropped
    /// Would do harm or mislead; shown as this mark instead.
    case replaced(by: Unicode.Scalar)

    init(_ scalar: Unicode.Scalar) {
        let value = scalar.value
        switch value {
        case 0x20...0x7E, 0xA0...0xAC, 0xAE...0x2FF: self = .spacing(width: 1)
        // U+2400 and up picture the C0 controls one by one, so an escape is seen to be an escape.
        case 0x00...0x1F: self = .replaced(by: Unicode.Scalar(0x2400 + value) ?? Self.mark)
        case 0x7F: self = .replaced(by: "\u{2421}")
        // C1: 0x9B alone is a control sequence introducer to terminals in 8-bit mode.
        case 0x80...0x9F: self = .replaced(by: Self.mark)
        // Soft hyphen, zero-width non-joiner and joiner, variation selectors: rendering hints that a grid of
        // cells cannot follow and that terminals measure differently.
        case 0xAD, 0x200C, 0x200D, 0xFE00...0xFE0F, 0xE0100...0xE01EF: self = .dropped
        // Hangul medial vowels and final consonants join the syllable before them.
        case 0x1160...0x11FF, 0xD7B0...0xD7C6, 0xD7CB...0xD7FB: self = .combining
        default: self = Self.byCategory(of: scalar)
        }
    }

    private static func byCategory(of scalar: Unicode.Scalar) -> ScalarKind {
        let properties = scalar.properties
        if properties.isDefaultIgnorableCodePoint { return .replaced(by: mark) }
        switch properties.generalCategory {
        case .nonspacingMark, .enclosingMark:
            return .combining
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .unassigned:
            return .replaced(by: mark)
        default:
            return .spacing(width: WideRanges.contains(scalar.value) ? 2 : 1)
        }
    }

    /// The replacement character, which every font has and nobody takes for part of a name.
    private static let mark: Unicode.Scalar = "\u{FFFD}"
}
