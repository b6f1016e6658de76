import Model

/// The history of typed commands: a file with a command on each line, the newest last.
public struct CommandHistory: Equatable, Sendable {
    /// The commands, oldest first, without repetitions.
    public private(set) var lines: [String] = []

    /// The most commands that the history keeps.
    private static let limit = 200
    /// The length of the longest command to keep. Longer lines were probably pasted, not typed.
    private static let longest = 1_000

    /// Reads the history from the text of its file.
    public init(text: String = "") {
        for line in text.lines { add(String(line)) }
    }

    /// The text for the file.
    public var text: String { lines.map { $0 + "\n" }.joined() }

    /// Adds a command at the end of the history.
    ///
    /// The history ignores lines that may contain a secret: an address may have a password before an `@`, or a token in its
    /// query.
    public mutating func add(_ line: String) {
        let line = line.trimmed
        guard !line.isEmpty, line.utf8.count <= Self.longest, !line.contains("@"),
            !line.contains(where: \.isNewline), Address.withoutCredentials(line) == line
        else {
            return
        }
        lines.removeAll { $0 == line }
        lines.append(line)
        lines.removeFirst(max(0, lines.count - Self.limit))
    }
}
