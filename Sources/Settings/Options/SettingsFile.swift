import Commands
import Glibc

/// The settings file: `name = value` lines, key bindings and `#` comments.
public enum SettingsFile {
    /// An invalid line of the file. The other lines still count.
    public struct Mistake: Hashable, Sendable, CustomStringConvertible {
        /// The path of the settings file.
        public let path: String
        /// The number of the line, counted from one; nil for the whole file.
        public let line: Int?
        /// The mistake in this line.
        public let error: SettingsError

        /// The mistake as `FILE:LINE: message`, the format of compilers.
        public var description: String {
            line.map { "\(path):\($0): \(error)" } ?? "\(error) Vitrine ignores the file."
        }

        /// The mistake as one line of text, with the file's name but not its folder.
        public var notice: String {
            let text = description
            guard text.hasPrefix(path), let slash = path.lastIndex(of: "/") else { return text }
            return String(path[path.index(after: slash)...]) + text.dropFirst(path.count)
        }

        /// Returns whether two mistakes have the same description.
        public static func == (left: Mistake, right: Mistake) -> Bool { left.description == right.description }

        /// Hashes the description, so that equal mistakes have equal hashes.
        public func hash(into hasher: inout Hasher) { hasher.combine(description) }
    }

    /// A line that sets an option.
    struct Line {
        /// The number of the line, counted from one.
        let number: Int
        /// The value as text, as the line has it.
        let value: String
    }

    /// Applies the lines of a file to settings. Returns the invalid lines.
    ///
    /// The call skips a byte order mark, and rejects a file with a NUL byte. If two lines set the same option, the last
    /// line takes effect, and the call reports the repetition as a mistake.
    public static func apply(_ text: String, path: String, to settings: inout Settings) -> [Mistake] {
        var lines: [String: Line] = [:]
        return apply(text, path: path, to: &settings, recording: &lines)
    }

    /// Applies the lines of a file to settings. For each setting, `lines` gets the line that takes effect.
    static func apply(
        _ text: String, path: String, to settings: inout Settings, recording lines: inout [String: Line]
    ) -> [Mistake] {
        guard !text.utf8.contains(0) else {
            return [Mistake(path: path, line: nil, error: .file(path: path, reason: "not a text file"))]
        }
        let text = text.unicodeScalars.first == "\u{FEFF}" ? String(text.unicodeScalars.dropFirst()) : text
        var mistakes: [Mistake] = []
        for (index, line) in text.lines.enumerated() {
            do throws(SettingsError) {
                guard let (name, value) = try apply(line.trimmed, to: &settings) else { continue }
                let former = lines.updateValue(Line(number: index + 1, value: value), forKey: name)
                if let former { throw .repeated(name, line: former.number) }
            } catch {
                mistakes.append(Mistake(path: path, line: index + 1, error: error))
            }
        }
        return mistakes
    }

    /// Applies a line to settings. Returns the name and the value of the changed option, if any.
    private static func apply(
        _ line: String, to settings: inout Settings
    ) throws(SettingsError) -> (name: String, value: String)? {
        guard !line.isEmpty, !line.hasPrefix("#") else { return nil }
        // Reading replaced invalid bytes with U+FFFD, so a path in this line would be wrong.
        guard !line.unicodeScalars.contains("\u{FFFD}") else { throw .notUTF8 }
        if isBinding(line) {
            try bind(line, in: &settings)
            return nil
        }
        guard let equals = line.firstIndex(of: "=") else { throw .notASetting(line) }
        let name = line[..<equals].trimmed
        guard let option = SettingsTable.option(named: name) else { throw .unknownOption(name) }
        let value = line[line.index(after: equals)...].trimmed
        try option.set(value, in: &settings)
        return (name, value)
    }

    /// Returns whether a line begins with the word for key bindings.
    static func isBinding(_ line: String) -> Bool { line.prefix { !$0.isWhitespace } == "bind" }

    /// Applies a line such as `bind photos J = next-section`. The last `=` is the separator, because `=` is also a key.
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
    /// The lines of the text, including empty lines. `\r\n` counts as one newline.
    var lines: [SubSequence] { split(omittingEmptySubsequences: false, whereSeparator: \.isNewline) }

    /// The text without white space at either end.
    var trimmed: String {
        var text = Substring(self).drop { $0.isWhitespace }
        while text.last?.isWhitespace == true { text.removeLast() }
        return String(text)
    }
}

/// The settings in force: the settings file, overridden by the command line.
///
///     let inForce = try SettingsInForce(invocation, locations)
///     for mistake in inForce.mistakes { complain("\(mistake)") }
///     use(inForce.settings)
///
/// A file that the command line names must be readable. Problems with the default file are only ``mistakes``, so that
/// Vitrine starts anyway.
public struct SettingsInForce: Sendable {
    /// The settings of the file, overridden by the settings of the command line.
    public let settings: Settings
    /// The mistakes in the file. Invalid lines have no effect. If lines repeat a setting, Vitrine uses the last one.
    public let mistakes: [SettingsFile.Mistake]
    /// The path of the settings file, which may not exist.
    public let path: String
    /// The line that takes effect, for each setting in the file.
    private let lines: [String: SettingsFile.Line]
    /// The names of the settings on the command line.
    private let given: Set<String>

    /// The sources from which a setting can get its value.
    public enum Origin: Hashable, Sendable {
        /// No source; the setting has its default value.
        case standard
        /// A line of the settings file.
        case file(path: String, line: Int)
        /// The command line.
        case commandLine
        /// The user, who changed the setting while Vitrine ran.
        case session
    }

    /// The maximum number of mistakes to show on the screen.
    private static let shownMistakes = 5

    /// Reads the named or default settings file, and the settings of the command line.
    public init(_ invocation: Invocation, _ locations: Locations) throws(SettingsError) {
        path = Self.path(invocation, locations)
        var settings = Settings()
        var lines: [String: SettingsFile.Line] = [:]
        if invocation.settingsFile != nil {
            guard let text = try PrivateFile.read(path) else {
                throw .file(path: path, reason: "no such file")
            }
            mistakes = SettingsFile.apply(text, path: path, to: &settings, recording: &lines)
        } else {
            mistakes = Self.applyDefault(path, to: &settings, recording: &lines)
        }
        try invocation.apply(to: &settings)
        settings.expandHome(locations.home)
        self.settings = settings
        self.lines = lines
        given = Set(invocation.settings.map(\.name))
    }

    /// Creates settings that come from no file and no command line.
    init(_ settings: Settings) {
        (self.settings, mistakes, path, lines, given) = (settings, [], "", [:], [])
    }

    /// Returns the path of the named or default settings file.
    public static func path(_ invocation: Invocation, _ locations: Locations) -> String {
        invocation.settingsFile?.expandingHome(locations.home) ?? locations.settingsFile
    }

    private static func applyDefault(
        _ path: String, to settings: inout Settings, recording lines: inout [String: SettingsFile.Line]
    ) -> [SettingsFile.Mistake] {
        do throws(SettingsError) {
            // Reading a pipe would wait for its writer.
            var status = stat()
            let exists = stat(path, &status) == 0
            guard !exists || [S_IFREG, S_IFCHR].contains(status.st_mode & S_IFMT) else {
                throw .file(path: path, reason: "not a file")
            }
            return SettingsFile.apply(try PrivateFile.read(path) ?? "", path: path, to: &settings, recording: &lines)
        } catch {
            return [SettingsFile.Mistake(path: path, line: nil, error: error)]
        }
    }

    /// Returns the source of a setting's value.
    public func origin(of name: String) -> Origin {
        if given.contains(name) { return .commandLine }
        return lines[name].map { .file(path: path, line: $0.number) } ?? .standard
    }

    /// Returns the value of a setting as the file has it. Returns nil if the value comes from another source.
    func textInFile(of name: String) -> String? { given.contains(name) ? nil : lines[name]?.value }

    /// The first mistakes as notices for the screen. A last notice counts the mistakes that are not shown.
    public var notices: [String] {
        guard mistakes.count > Self.shownMistakes else { return mistakes.map(\.notice) }
        let rest = "\(mistakes.count - Self.shownMistakes) more mistakes; run “vitrine config check”."
        return mistakes.prefix(Self.shownMistakes).map(\.notice) + [rest]
    }
}
