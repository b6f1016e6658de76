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
