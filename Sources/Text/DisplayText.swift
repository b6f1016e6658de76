import Glibc

extension String {
    /// The text with harmful or misleading characters made visible.
    ///
    ///     print(photo.name.madeVisible)      // "Sunset␛[2J"
    ///
    /// The result is one line that is safe to print on a terminal, to log and to compare. Symbols replace line breaks.
    public var madeVisible: String {
        if isPlainASCII { return self }
        var visible = ""
        visible.reserveCapacity(utf8.count)
        for glyph in Glyphs(self) { visible += glyph.text }
        return visible
    }

    /// The number of terminal columns that the text needs, after ``madeVisible``.
    public var displayWidth: Int {
        if isPlainASCII { return utf8.count }
        return Glyphs(self).reduce(0) { $0 + $1.width }
    }

    /// Returns the text after ``madeVisible``, shortened to at most `width` columns.
    ///
    /// - Parameter ellipsis: the text that replaces the cut part. Pass `"~"` or `"..."` for ASCII terminals.
    public func truncated(toWidth width: Int, ellipsis: String = "…") -> String {
        guard displayWidth > width else { return madeVisible }
        let room = width - ellipsis.displayWidth
        guard room >= 0 else { return "" }
        var kept = ""
        var used = 0
        for glyph in Glyphs(self) {
            guard used + glyph.width <= room else { break }
            kept += glyph.text
            used += glyph.width
        }
        return kept + ellipsis
    }

    /// Returns the text after ``madeVisible``, without its first `width` columns.
    ///
    /// A space replaces the right half of a wide character whose left half is in these columns.
    public func droppingColumns(_ width: Int) -> String {
        if isPlainASCII { return String(dropFirst(max(0, width))) }
        var rest = ""
        var column = 0
        for glyph in Glyphs(self) {
            if column >= width { rest += glyph.text } else if column + glyph.width > width { rest += " " }
            column += glyph.width
        }
        return rest
    }

    /// Whether the text is plain ASCII. Most texts are plain ASCII and need no work per character.
    private var isPlainASCII: Bool {
        utf8.allSatisfy { (0x20...0x7E).contains($0) }
    }
}

extension String {
    /// Breaks the text between words into lines of at most `width` columns.
    ///
    ///     "to the rest of long lines".wrapped(toWidth: 12)      // ["to the rest", "of long", "lines"]
    ///
    /// A word wider than `width` gets its own line. The caller must shorten it.
    public func wrapped(toWidth width: Int) -> [String] {
        var lines: [String] = []
        for word in split(separator: " ") {
            if let last = lines.last, last.displayWidth + 1 + String(word).displayWidth <= width {
                lines[lines.count - 1] += " " + word
            } else {
                lines.append(String(word))
            }
        }
        return lines
    }
}

extension String {
    /// The text as one word of a POSIX shell, quoted if necessary.
    ///
    ///     print("vitrine export " + "it's".shellWord)     // vitrine export 'it'\''s'
    ///
    /// Control characters stay unchanged. Apply ``madeVisible`` first to text for a terminal. Swift takes a quote and a
    /// combining accent for one character. A shell reads bytes and sees the quote, so the property escapes that quote,
    /// too.
    public var shellWord: String {
        let plain = utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"):
                true
            default: "_-./:,@%+".utf8.contains(byte)
            }
        }
        guard !plain || isEmpty else { return self }
        var word = "'"
        for scalar in unicodeScalars {
            if scalar == "'" { word += #"'\''"# } else { word.unicodeScalars.append(scalar) }
        }
        return word + "'"
    }
}

/// Replaces characters for terminals that show only ASCII.
public enum ASCIIFallback {
    /// Returns ASCII text of the same width. Combining marks are dropped, because each would need a column.
    public static func text(for text: String) -> String {
        guard let scalar = text.unicodeScalars.first else { return "" }
        if scalar.isASCII { return String(scalar) }
        let plain = replacements[scalar] ?? sextant(scalar) ?? "?"
        return text.displayWidth == 2 ? String(repeating: plain, count: 2) : String(plain)
    }

    /// Returns the text with ASCII in place of all other characters. Control characters stay.
    public static func plain(_ text: String) -> String {
        text.reduce(into: "") { $0 += $1.isASCII ? String($1) : Self.text(for: String($1)) }
    }

    /// Returns the bytes of a text in the form for a file, pipe or terminal.
    ///
    /// A terminal that does not use UTF-8 gets only ASCII. It would take some bytes of other characters for control
    /// characters: the byte 9B begins a control sequence.
    public static func bytes(_ bytes: [UInt8], for descriptor: Int32) -> [UInt8] {
        guard bytes.contains(where: { $0 >= 0x80 }), isatty(descriptor) == 1, !isLocaleUnicode else { return bytes }
        return Array(plain(String(decoding: bytes, as: UTF8.self)).utf8)
    }

    /// Whether the locale uses UTF-8. The caller must have called `setlocale` before.
    public static var isLocaleUnicode: Bool {
        String(cString: nl_langinfo(nl_item(CODESET))).uppercased() == "UTF-8"
    }

    /// The replacements for the characters that Vitrine draws with, and for the spaces that group digits in many
    /// languages. Other characters become question marks, because wrong letters would mislead.
    private static let replacements: [Unicode.Scalar: Character] = [
        "─": "-", "━": "=", "│": "|", "┃": "|", "┌": "+", "┐": "+", "└": "+", "┘": "+", "├": "+", "┤": "+", "┬": "+",
        "┴": "+", "┼": "+", "╭": "+", "╮": "+", "╰": "+", "╯": "+", "…": "~", "·": ".", "•": "*", "▸": ">", "◂": "<",
        "→": ">", "←": "<", "↑": "^", "↓": "v", "✓": "x", "✗": "!", "█": "#", "▓": "#", "▒": "+", "░": ".", "▀": "\"",
        "▄": "_", "▌": "|", "▐": "|", "▘": "'", "▝": "'", "▖": ".", "▗": ".", "▚": "\\", "▞": "/", "▙": "L", "▟": "J",
        "▛": "P", "▜": "7", "–": "-", "—": "-", "‘": "'", "’": "'", "“": "\"", "”": "\"", "×": "x", "°": "o",
        "\u{A0}": " ", "\u{2009}": " ", "\u{202F}": " ", "\u{FFFD}": "?", "␛": "?",
    ]

    /// Returns a character whose density and position are similar to those of a sextant.
    private static func sextant(_ scalar: Unicode.Scalar) -> Character? {
        guard (0x1FB00...0x1FB3B).contains(scalar.value) else { return nil }
        let number = Int(scalar.value) - 0x1FB00
        // The left and right half blocks are older characters and not in this range.
        let pattern = number + (number < 20 ? 1 : number < 40 ? 2 : 3)
        let isAbove = (pattern & 0b000011).nonzeroBitCount > (pattern & 0b110000).nonzeroBitCount
        switch pattern.nonzeroBitCount {
        case 1: return isAbove ? "'" : pattern & 0b001100 == 0 ? "." : "-"
        case 2: return isAbove ? "\"" : pattern & 0b001100 == 0 ? "_" : ":"
        case 3: return "+"
        case 4: return "o"
        default: return "#"
        }
    }
}
