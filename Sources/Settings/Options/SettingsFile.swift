import Commands
import Glibc

/// The settings file: lines of the form `name = value`, those that bind a key, and lines that begin with `#`.
public enum SettingsFile {
    /// A line that is wrong. The others hold all the same.
    public struct Mistake: Hashable, Sendable, CustomStringConvertible {
        /// Which file.
        public let path: String
        /// Which line, counted from one; nil where it is the file as a whole.
        public let line: Int?
        /// What is wrong with it.
        public let error: SettingsError

        /// `FILE:LINE: what is wrong`, as compilers say it.
        public var description: String {
            line.map { "\(path):\($0): \(error)" } ?? "\(error) It is not used."
        }

        /// The same for a line of the screen, in which folders would take the room of what is wrong.
        public var notice: String {
            let text = description
            guard text.hasPrefix(path), let slash = path.lastIndex(of: "/") else { return text }
            return String(path[path.index(after: slash)...]) + text.dropFirst(path.count)
        }

        /// Two mistakes are the same if they say the same.
        public static func == (left: Mistake, right: Mistake) -> Bool { left.description == right.description }

        /// Agrees with `==`.
        public func hash(into hasher: inout Hasher) { hasher.combine(description) }
    }

    /// Applies a file's lines, and returns those that are wrong.
    ///
    /// A mark of the byte order at the beginning, as some editors write it, is passed over. A file with a NUL in it is no
    /// text, and nothing of it is used. Of an option that is set twice the last line holds, and that it does is said.
    public static func apply(_ text: String, path: String, to settings: inout Settings) -> [Mistake] {
        guard !text.utf8.contains(0) else {
            return [Mistake(path: path, line: nil, error: .file(path: path, reason: "it is no text"))]
        }
        let text = text.unicodeScalars.first == "\u{FEFF}" ? String(text.unicodeScalars.dropFirst()) : text
        var mistakes: [Mistake] = []
        var places: [String: Int] = [:]
        for (index, line) in text.lines.enumerated() {
            do throws(SettingsError) {
                guard let name = try apply(line.trimmed, to: &settings) else { continue }
                if let first = places.updateValue(index + 1, forKey: name) { throw .repeated(name, line: first) }
            } catch {
                mistakes.append(Mistake(path: path, line: index + 1, error: error))
            }
        }
        return mistakes
    }

    /// Returns which option it has set, if it is no comment.
    private static func apply(_ line: String, to settings: inout Settings) throws(SettingsError) -> String? {
        guard !line.isEmpty, !line.hasPrefix("#") else { return nil }
        // What is no UTF-8 has become this when the file was read. A path in it would be another one.
        guard !line.unicodeScalars.contains("\u{FFFD}") else { throw .notUTF8 }
        if line.prefix(while: { !$0.isWhitespace }) == "bind" {
            try bind(line, in: &settings)
            return nil
        }
        guard let equals = line.firstIndex(of: "=") else { throw .notASetting(line) }
        let name = line[..<equals].trimmed
        guard let option = SettingsTable.option(named: name) else { throw .unknownOption(name) }
        try option.set(line[line.index(after: equals)...].trimmed, in: &settings)
        return name
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

/// The settings as they hold: those of the file, and over them what the command line says.
///
///     let inForce = try SettingsInForce(invocation, locations)
///     for mistake in inForce.mistakes { complain("\(mistake)") }
///     use(inForce.settings)
///
/// A file that was named has to be there and to be readable. The usual one need not: what is wrong with it is one of the
/// ``mistakes``, and keeps nobody from looking at photos.
public struct SettingsInForce: Sendable {
    /// What holds.
    public let settings: Settings
    /// What of the file is wrong and was passed over.
    public let mistakes: [SettingsFile.Mistake]
    /// The file that was read, if it is there.
    public let path: String

    /// How many mistakes are told one by one where there is little room.
    private static let told = 5

    /// Reads the file that the command line names, or the usual one, and applies the command line over it.
    public init(_ invocation: Invocation, _ locations: Locations) throws(SettingsError) {
        path = invocation.settingsFile ?? locations.settingsFile
        var settings = Settings()
        if invocation.settingsFile != nil {
            guard let text = try PrivateFile.read(path) else {
                throw .file(path: path, reason: "there is no such file")
            }
            mistakes = SettingsFile.apply(text, path: path, to: &settings)
        } else {
            mistakes = Self.applyUsual(path, to: &settings)
        }
        try invocation.apply(to: &settings)
        settings.expandHome(locations.home)
        self.settings = settings
    }

    private static func applyUsual(_ path: String, to settings: inout Settings) -> [SettingsFile.Mistake] {
        do throws(SettingsError) {
            // Whoever reads a pipe waits for somebody who writes into it.
            var status = stat()
            let isThere = stat(path, &status) == 0
            guard !isThere || [S_IFREG, S_IFCHR].contains(status.st_mode & S_IFMT) else {
                throw .file(path: path, reason: "it is no file")
            }
            return SettingsFile.apply(try PrivateFile.read(path) ?? "", path: path, to: &settings)
        } catch {
            return [SettingsFile.Mistake(path: path, line: nil, error: error)]
        }
    }

    /// The mistakes for a line of the screen: the first ones, and where the others are to be found.
    public var notices: [String] {
        guard mistakes.count > Self.told else { return mistakes.map(\.notice) }
        let rest = "There are \(mistakes.count - Self.told) more mistakes; “vitrine config check” names them all."
        return mistakes.prefix(Self.told).map(\.notice) + [rest]
    }
}
