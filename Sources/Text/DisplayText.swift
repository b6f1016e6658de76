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
