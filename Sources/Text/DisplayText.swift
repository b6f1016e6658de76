extension String {
    /// The text with everything made visible that could move a cursor, answer a terminal or mislead a reader.
    ///
    ///     print(photo.name.madeVisible)      // "Sunset␛[2J"
    ///
    /// Safe to print on a terminal, to write to a log and to compare. It is one line: line breaks are pictured too.
    public var madeVisible: String {
        if isPlainASCII { return self }
        var visible = ""
        visible.reserveCapacity(utf8.count)
        for glyph in Glyphs(self) { visible += glyph.text }
        return visible
    }

    /// The columns the text takes on a terminal once it is made visible.
    public var displayWidth: Int {
        if isPlainASCII { return utf8.count }
        return Glyphs(self).reduce(0) { $0 + $1.width }
    }

    /// The text made visible and cut to at most `width` columns, the last of them an ellipsis if something had to go.
    ///
    /// - Parameter ellipsis: what stands for the rest; pass `"~"` or `"..."` where only ASCII can be shown.
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

    /// Most text is this, and needs no look at single scalars.
    private var isPlainASCII: Bool {
        utf8.allSatisfy { (0x20...0x7E).contains($0) }
    }
}

extension String {
    /// The text broken between its words into lines of at most `width` columns.
    ///
    ///     "to the rest of long lines".wrapped(toWidth: 12)      // ["to the rest", "of long", "lines"]
    ///
    /// A word that is wider than that has a line to itself, and is for the caller to cut.
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
    /// The text as one word of a POSIX shell, in quotes where it needs them.
    ///
    ///     print("vitrine export " + "it's".shellWord)     // vitrine export 'it'\''s'
    ///
    /// Nothing of it is made visible: what may go to a terminal is to be asked of ``madeVisible`` before.
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
        return "'" + split(separator: "'", omittingEmptySubsequences: false).joined(separator: #"'\''"#) + "'"
    }
}
