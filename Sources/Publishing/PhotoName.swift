/// What a photo is called in the gallery: its title, else its file's name.
enum PhotoName {
    /// The first of both that says anything, made fit for a list.
    static func text(title: String?, path: PhotoPath) -> String {
        let candidates = [title.map(clean), clean(path.stem), clean(path.text)]
        return candidates.lazy.compactMap { $0 }.first { !$0.isEmpty } ?? path.reference
    }

    /// One line without control characters. XML could not even hold them (XML 1.0, section 2.2), and who reads the list is to
    /// be spared the rest. What breaks a line becomes a space; the others become what pictures them, so that it shows that
    /// something was there.
    private static func clean(_ text: String) -> String {
        var clean = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            switch scalar.value {
            case 0x09...0x0D, 0x85, 0x2028, 0x2029: clean.append(" ")
            case 0x00...0x1F: clean.append(Unicode.Scalar(0x2400 + scalar.value) ?? "\u{FFFD}")
            case 0x7F: clean.append("\u{2421}")
            case 0x80...0x9F, 0xFFFE, 0xFFFF: clean.append("\u{FFFD}")
            default: clean.append(scalar)
            }
        }
        let start = clean.firstIndex { $0 != " " } ?? clean.endIndex
        guard let last = clean.lastIndex(where: { $0 != " " }) else { return "" }
        return String(clean[start...last])
    }
}
