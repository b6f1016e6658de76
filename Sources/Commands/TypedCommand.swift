import Cells

/// A command that the user typed by its name.
///
///     try TypedCommand("goto 10", among: keys.entries(in: scopes))   // .goto, .number(10)
///     try TypedCommand("10", among: …)                               // the same
///     try TypedCommand("search red kite", among: …)                  // .search, .text("red kite")
public struct TypedCommand: Equatable, Sendable {
    /// The command that the name stands for.
    public let command: Command
    /// The argument after the command's name, if the user typed one.
    public let argument: CommandArgument?

    /// Short names that users know from other programs, with their commands.
    public static let shortNames: KeyValuePairs<String, Command> = ["q": .quit]

    /// Parses a line that the user typed.
    ///
    /// - Parameter entries: the commands of the current screen.
    public init(_ line: String, among entries: [CommandTable.Entry]) throws(CommandsError) {
        let (name, rest) = Self.split(line)
        if !name.isEmpty, rest.isEmpty, name.allSatisfy({ $0.isASCII && $0.isNumber }) {
            self = try Self(Command.goto.name + " " + name, among: entries)
            return
        }
        let command = Self.shortNames.first { $0.key == name }?.value ?? Command(named: name)
        guard let command else {
            throw .unknownName(name, nearest: Misspelling.nearest(to: name, among: entries.map(\.command.name)))
        }
        let known = entries.filter { $0.command == command }
        guard !known.isEmpty else { throw .nothingHere(name) }
        self.command = command
        if rest.isEmpty {
            guard known.contains(where: { $0.parameter?.isNeeded != true }) else {
                throw .missingArgument(name, known[0].parameter?.name ?? "")
            }
            argument = nil
        } else {
            guard let parameter = known.lazy.compactMap(\.parameter).first else {
                throw .unexpectedArgument(name, rest)
            }
            argument = try Self.argument(rest, parameter, of: name)
        }
    }

    private static func argument(
        _ text: String, _ parameter: CommandTable.Parameter, of name: String
    ) throws(CommandsError) -> CommandArgument {
        guard let numbers = parameter.numbers else { return .text(text) }
        guard let number = Int(text), numbers.contains(number) else { throw .noNumber(text, of: name, numbers) }
        return .number(number)
    }

    /// Splits a line into the command's name and the text after the name.
    public static func split(_ line: String) -> (name: String, rest: String) {
        let line = line.drop { $0.isWhitespace || $0 == ":" }
        let name = line.prefix { !$0.isWhitespace }
        var rest = line[name.endIndex...].drop { $0.isWhitespace }
        while rest.last?.isWhitespace == true { rest.removeLast() }
        return (String(name), String(rest))
    }
}

/// Suggests a known name for a misspelled name.
///
///     Misspelling.nearest(to: "colours", among: ["colors", "symbols"])      // "colors"
public enum Misspelling {
    /// Returns the most similar name. If no name is similar, returns the only name that begins with the word, or nil.
    public static func nearest(to word: String, among names: [String]) -> String? {
        let letters = Array(word.lowercased().utf8)
        // One or two letters say too little about the name, and no name has more than forty letters.
        guard (3...40).contains(letters.count) else { return nil }
        let bound = max(1, letters.count / 3)
        let nearest = names.map { (name: $0, distance: distance(letters, Array($0.utf8))) }
            .min { $0.distance < $1.distance }
        if let nearest, nearest.distance <= bound { return nearest.name }
        let beginning = names.filter { $0.utf8.starts(with: letters) }
        return beginning.count == 1 ? beginning[0] : nil
    }

    /// Returns the number of insertions, deletions, replacements and swaps between two words.
    private static func distance(_ from: [UInt8], _ to: [UInt8]) -> Int {
        var (beforeLast, last) = ([Int](), Array(0...to.count))
        for (row, letter) in from.enumerated() {
            var current = [row + 1]
            for (column, other) in to.enumerated() {
                var least = min(last[column + 1] + 1, current[column] + 1, last[column] + (letter == other ? 0 : 1))
                if row > 0, column > 0, letter == to[column - 1], other == from[row - 1] {
                    least = min(least, beforeLast[column - 1] + 1)
                }
                current.append(least)
            }
            (beforeLast, last) = (last, current)
        }
        return last[to.count]
    }
}

/// The number that the user types before the key of a command: `5j`, `10G`.
public struct TypedNumber: Sendable {
    /// The number so far; nil before the first digit.
    public private(set) var value: Int?

    /// Creates a number without digits.
    public init() {}

    /// Adds a typed digit. Returns false for other keys, and for a zero as the first digit.
    public mutating func take(_ key: Key) -> Bool {
        guard case .character(let character) = key.code, key.modifiers.isEmpty, character.isASCII,
            let digit = character.wholeNumberValue, value != nil || digit > 0
        else { return false }
        value = min((value ?? 0) * 10 + digit, CommandArgument.largestNumber)
        return true
    }

    /// Returns the number and resets it.
    public mutating func end() -> Int? {
        defer { value = nil }
        return value
    }
}
