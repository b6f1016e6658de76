import Model

/// Commands that were typed by their names, the newest last: a file with one in each line.
public struct CommandHistory: Equatable, Sendable {
    /// In the order in which they were typed, none twice.
    public private(set) var lines: [String] = []

    /// More than anybody goes back.
    private static let limit = 200
    /// Longer lines were pasted, and not typed.
    private static let longest = 1_000

    /// Reads a file's text.
    public init(text: String = "") {
        for line in text.lines { note(String(line)) }
    }

    /// The file's text.
    public var text: String { lines.map { $0 + "\n" }.joined() }

    /// Takes a line in. Not one that may have a password in it: addresses have one before an `@`, or in their query.
    public mutating func note(_ line: String) {
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
