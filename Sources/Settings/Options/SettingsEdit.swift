/// Changes one setting in the text of a settings file, and leaves the other lines as they are.
///
///     SettingsEdit(text).setting(option, to: "light")
struct SettingsEdit {
    private let text: String
    private let lines: [Line]

    private struct Line {
        /// The characters of the line without its newline.
        let content: Range<String.Index>
        /// The characters of the line with its newline.
        let whole: Range<String.Index>
    }

    /// Divides a text into lines, as the settings file is read.
    init(_ text: String) {
        self.text = text
        var lines: [Line] = []
        var start = text.startIndex
        while start < text.endIndex {
            let end = text[start...].firstIndex(where: \.isNewline) ?? text.endIndex
            let next = end < text.endIndex ? text.index(after: end) : end
            lines.append(Line(content: start..<end, whole: start..<next))
            start = next
        }
        self.lines = lines
    }

    /// Returns the text with another value of a setting; nil removes the lines that set it.
    ///
    /// The last line that sets it gets the value, since that line counts. Without such a line, the value gets a line at the
    /// end.
    func setting(_ option: SettingsOption, to value: String?) -> String {
        let own = lines.filter { name(in: $0) == option.name }
        var new = text
        guard let value else {
            for line in own.reversed() { new.removeSubrange(line.whole) }
            return new
        }
        guard let last = own.last, let equals = text[last.content].firstIndex(of: "=") else {
            return appending("\(option.name) = \(value)")
        }
        let start = text.index(after: equals)
        let former = text[start..<last.content.upperBound]
        let gap = former.prefix { $0.isWhitespace }
        let space = former.allSatisfy(\.isWhitespace) ? (text[..<equals].last?.isWhitespace == true ? " " : "") : gap
        new.replaceSubrange(start..<last.content.upperBound, with: space + value)
        if let comment = comment(in: former.trimmed, of: option) {
            new.insert(contentsOf: comment + newline, at: last.content.lowerBound)
        }
        return new
    }

    /// Returns the comment after a value; nil if the whole text is a value.
    ///
    /// A settings file has comments on lines of their own only. A comment cannot follow a value, so the edit gives it its own
    /// line.
    private func comment(in value: String, of option: SettingsOption) -> String? {
        var settings = Settings()
        func isValid(_ text: String) -> Bool { (try? option.set(text, in: &settings)) != nil }
        guard let hash = value.firstIndex(of: "#"), hash > value.startIndex,
            value[value.index(before: hash)].isWhitespace, !isValid(value), isValid(value[..<hash].trimmed)
        else { return nil }
        return String(value[hash...])
    }

    private func appending(_ line: String) -> String {
        let isOpen = text.last.map { !$0.isNewline } ?? false
        return text + (isOpen ? newline : "") + line + newline
    }

    /// The newline that the text uses.
    private var newline: String { text.contains("\r\n") ? "\r\n" : "\n" }

    /// Returns the name of the setting that a line sets.
    private func name(in line: Line) -> String? {
        let content = text[line.content].drop { $0 == "\u{FEFF}" }.trimmed
        guard !content.isEmpty, !content.hasPrefix("#"), !SettingsFile.isBinding(content) else { return nil }
        return content.firstIndex(of: "=").map { content[..<$0].trimmed }
    }
}
