/// The settings file: lines of the form `name = value`, and lines that begin with `#`.
public enum SettingsFile {
    /// A line that is wrong. The others hold all the same.
    public struct Mistake: Hashable, Sendable, CustomStringConvertible {
        /// Which file.
        public let path: String
        /// Which line, counted from one.
        public let line: Int
        /// What is wrong with it.
        public let error: SettingsError

        /// `FILE:LINE: what is wrong`, as compilers say it.
        public var description: String { "\(path):\(line): \(error)" }

        /// Two mistakes are the same if they say the same.
        public static func == (left: Mistake, right: Mistake) -> Bool { left.description == right.description }

        /// Agrees with `==`.
        public func hash(into hasher: inout Hasher) { hasher.combine(description) }
    }

    /// Applies a file's lines, and returns those that are wrong.
    public static func apply(_ text: String, path: String, to settings: inout Settings) -> [Mistake] {
        var mistakes: [Mistake] = []
        for (index, line) in text.lines.enumerated() {
            do throws(SettingsError) {
                try apply(line.trimmed, to: &settings)
            } catch {
                mistakes.append(Mistake(path: path, line: index + 1, error: error))
            }
        }
        return mistakes
    }

    private static func apply(_ line: String, to settings: inout Settings) throws(SettingsError) {
        guard !line.isEmpty, !line.hasPrefix("#") else { return }
        guard let equals = line.firstIndex(of: "=") else { throw .notASetting(line) }
        let name = line[..<equals].trimmed
        guard let option = SettingsTable.option(named: name), option.isSetting else { throw .unknownOption(name) }
        try option.set(line[line.index(after: equals)...].trimmed, in: &settings)
    }
}

extension StringProtocol {
    /// The lines, empty ones too, whichever way an editor ends them: `\r\n` is one character, and not `\n`.
    var lines: [SubSequence] { split(omittingEmptySubsequences: false, whereSeparator: \.isNewline) }

    /// Without white space at either end.
    var trimmed: String {
        var text = Substring(self).drop { $0.isWhitespace }
        while text.last?.isWhitespace == true { text.removeLast() }
        return String(text)
    }
}
