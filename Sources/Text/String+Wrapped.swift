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
