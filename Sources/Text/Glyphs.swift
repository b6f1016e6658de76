/// Splits untrusted text into glyphs that are safe to display.
///
/// All text passes through this type before it reaches a cell, a log line or standard output. The glyphs contain no
/// control characters, bidirectional overrides or invisible characters. Each glyph has at most four combining marks.
/// The widths of the glyphs add up to the number of columns that a terminal uses.
///
///     for glyph in Glyphs(photo.name) { … }
///
/// Iteration takes time in proportion to the length of the text, even for 10,000 combining marks.
public struct Glyphs: Sequence, Sendable {
    private let text: String

    /// Creates the sequence. Only the iterator processes the text.
    public init(_ text: String) {
        self.text = text
    }

    /// Returns an iterator over the glyphs.
    public func makeIterator() -> Iterator {
        Iterator(scalars: text.unicodeScalars.makeIterator())
    }

    /// Iterates over the glyphs of a text.
    public struct Iterator: IteratorProtocol {
        private var scalars: String.UnicodeScalarView.Iterator
        /// The visible scalar that ended the previous glyph and begins the next.
        private var pending: (scalar: Unicode.Scalar, width: Int)?

        fileprivate init(scalars: String.UnicodeScalarView.Iterator) {
            self.scalars = scalars
        }

        /// Returns the next glyph. Returns nil at the end of the text.
        public mutating func next() -> Glyph? {
            // A mark without a base gets a space, so that it cannot combine with the previous cell.
            var base = pending
            pending = nil
            var marks = String.UnicodeScalarView()
            var markCount = 0
            while let scalar = scalars.next() {
                switch ScalarKind(scalar) {
                case .spacing(let width):
                    guard base != nil || markCount > 0 else {
                        base = (scalar, width)
                        continue
                    }
                    pending = (scalar, width)
                    return glyph(base, marks)
                case .replaced(let mark):
                    guard base != nil || markCount > 0 else {
                        base = (mark, 1)
                        continue
                    }
                    pending = (mark, 1)
                    return glyph(base, marks)
                case .combining:
                    if markCount < Glyph.maximumMarks { marks.append(scalar) }
                    markCount += 1
                case .dropped:
                    continue
                }
            }
            return base != nil || markCount > 0 ? glyph(base, marks) : nil
        }

        private func glyph(
            _ base: (scalar: Unicode.Scalar, width: Int)?, _ marks: String.UnicodeScalarView
        ) -> Glyph {
            var text = String(Character(base?.scalar ?? " "))
            if !marks.isEmpty { text.unicodeScalars.append(contentsOf: marks) }
            return Glyph(text: text, width: base?.width ?? 1)
        }
    }
}

/// A visible scalar with its combining marks, in one or two cells.
public struct Glyph: Hashable, Sendable {
    /// A visible scalar followed by at most ``Glyph/maximumMarks`` combining scalars.
    public let text: String
    /// The number of columns that the glyph covers: 1 or 2.
    public let width: Int

    /// The maximum number of combining marks of a glyph. Without a limit, a terminal would draw marks over the lines
    /// above. ncurses has the same limit (`CCHARW_MAX` is 5: the character and four marks).
    public static let maximumMarks = 4

    /// A blank that covers one cell.
    public static let space = Glyph(text: " ", width: 1)

    init(text: String, width: Int) {
        self.text = text
        self.width = width
    }

    /// Creates the glyph for a character. If the character has no visible part, the glyph is a blank.
    ///
    ///     surface.fill(row, with: Glyph("─"))
    public init(_ character: Character) {
        var glyphs = Glyphs(String(character)).makeIterator()
        self = glyphs.next() ?? .space
    }
}

/// The effect of a scalar of untrusted text on a terminal.
///
/// Control characters move the cursor, erase text or make the terminal answer. Bidirectional overrides and tag
/// characters make one name look like another. Joiners, variation selectors and skin tones change the width of their
/// neighbours in some terminals. Vitrine passes none of these to the terminal.
enum ScalarKind: Equatable {
    /// A visible character, one or two columns wide.
    case spacing(width: Int)
    /// A mark without a column of its own, drawn over the previous glyph.
    case combining
    /// A scalar without visible effect in a cell; Vitrine leaves it out.
    case dropped
    /// A harmful or misleading scalar; Vitrine shows a symbol instead.
    case replaced(by: Unicode.Scalar)

    init(_ scalar: Unicode.Scalar) {
        let value = scalar.value
        switch value {
        case 0x20...0x7E, 0xA0...0xAC, 0xAE...0x2FF: self = .spacing(width: 1)
        // U+2400 and up are symbols for the C0 controls.
        case 0x00...0x1F: self = .replaced(by: Unicode.Scalar(0x2400 + value) ?? Self.mark)
        case 0x7F: self = .replaced(by: "\u{2421}")
        // C1 controls: in 8-bit mode, 0x9B alone is a control sequence introducer.
        case 0x80...0x9F: self = .replaced(by: Self.mark)
        // Soft hyphen, zero-width joiners, variation selectors and skin tones: rendering hints that do not work in
        // cells and that terminals measure differently.
        case 0xAD, 0x200C, 0x200D, 0xFE00...0xFE0F, 0x1F3FB...0x1F3FF, 0xE0100...0xE01EF: self = .dropped
        // Hangul medial vowels and final consonants join the previous syllable.
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

    /// The replacement character. Every font has this character, which does not look like part of a name.
    private static let mark: Unicode.Scalar = "\u{FFFD}"
}

/// The ranges of scalars that are two columns wide (East Asian Width, emoji).
///
/// `wcwidth` depends on the locale of the process and knows no widths under `LANG=C`, but a name must have the same
/// width everywhere. A test compares this table with the system's `wcwidth` in a UTF-8 locale.
enum WideRanges {
    static func contains(_ value: UInt32) -> Bool {
        // Binary search for the last range that begins at or before `value`.
        var low = 0
        var high = ranges.count
        while low < high {
            let middle = (low + high) / 2
            if ranges[middle].lowerBound <= value { low = middle + 1 } else { high = middle }
        }
        return low > 0 && ranges[low - 1].upperBound >= value
    }

    private static let ranges: [ClosedRange<UInt32>] = [
        0x1100...0x115F, 0x231A...0x231B, 0x2329...0x232A, 0x23E9...0x23EC, 0x23F0...0x23F0,
        0x23F3...0x23F3, 0x25FD...0x25FE, 0x2614...0x2615, 0x2648...0x2653, 0x267F...0x267F,
        0x2693...0x2693, 0x26A1...0x26A1, 0x26AA...0x26AB, 0x26BD...0x26BE, 0x26C4...0x26C5,
        0x26CE...0x26CE, 0x26D4...0x26D4, 0x26EA...0x26EA, 0x26F2...0x26F3, 0x26F5...0x26F5,
        0x26FA...0x26FA, 0x26FD...0x26FD, 0x2705...0x2705, 0x270A...0x270B, 0x2728...0x2728,
        0x274C...0x274C, 0x274E...0x274E, 0x2753...0x2755, 0x2757...0x2757, 0x2795...0x2797,
        0x27B0...0x27B0, 0x27BF...0x27BF, 0x2B1B...0x2B1C, 0x2B50...0x2B50, 0x2B55...0x2B55,
        0x2E80...0x3029, 0x302E...0x303E, 0x3041...0x3096, 0x309B...0xA4C6, 0xA960...0xA97C,
        0xAC00...0xD7A3, 0xF900...0xFAD9, 0xFE10...0xFE19, 0xFE30...0xFE6B, 0xFF01...0xFF60,
        0xFFE0...0xFFE6, 0x16FE0...0x16FE3, 0x16FF0...0x1B2FB, 0x1F004...0x1F004, 0x1F0CF...0x1F0CF,
        0x1F18E...0x1F18E, 0x1F191...0x1F19A, 0x1F200...0x1F320, 0x1F32D...0x1F335, 0x1F337...0x1F37C,
        0x1F37E...0x1F393, 0x1F3A0...0x1F3CA, 0x1F3CF...0x1F3D3, 0x1F3E0...0x1F3F0, 0x1F3F4...0x1F3F4,
        0x1F3F8...0x1F43E, 0x1F440...0x1F440, 0x1F442...0x1F4FC, 0x1F4FF...0x1F53D, 0x1F54B...0x1F54E,
        0x1F550...0x1F567, 0x1F57A...0x1F57A, 0x1F595...0x1F596, 0x1F5A4...0x1F5A4, 0x1F5FB...0x1F64F,
        0x1F680...0x1F6C5, 0x1F6CC...0x1F6CC, 0x1F6D0...0x1F6D2, 0x1F6D5...0x1F6DF, 0x1F6EB...0x1F6EC,
        0x1F6F4...0x1F6FC, 0x1F7E0...0x1F7F0, 0x1F90C...0x1F93A, 0x1F93C...0x1F945, 0x1F947...0x1F9FF,
        0x1FA70...0x1FAF6, 0x20000...0x3134A,
    ]
}
