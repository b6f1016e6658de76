import Commands

/// The settings file: lines of the form `name = value`, those that bind a key, and lines that begin with `#`.
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
        if line.prefix(while: { !$0.isWhitespace }) == "bind" { return try bind(line, in: &settings) }
        guard let equals = line.firstIndex(of: "=") else { throw .notASetting(line) }
        let name = line[..<equals].trimmed
        guard let option = SettingsTable.option(named: name), option.isSetting else { throw .unknownOption(name) }
        try option.set(line[line.index(after: equals)...].trimmed, in: &settings)
    }

    /// `bind photos J = next-section`. The last `=` counts: `=` is a key too.
    private static func bind(_ line: String, in settings: inout Settings) throws(SettingsError) {
        guard let equals = line.lastIndex(of: "=") else { throw .notABinding(line) }
        let words = line[..<equals].split(whereSeparator: \.isWhitespace).map(String.init)
        let command = line[line.index(after: equals)...].trimmed
        guard words.count == 3, !command.isEmpty else { throw .notABinding(line) }
        do throws(CommandsError) {
            try settings.keys.bind(words[2], to: command, in: words[1])
        } catch {
            throw .binding(error)
        }
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
