import Cells

/// The keys of one user: those of the table, and over them what his settings bind.
///
///     var keys = KeyMap()
///     try keys.bind("J", to: "page-down", in: "lists")
///     keys.command(for: .character("J"), in: [.photos, .lists, .everywhere])   // .pageDown
public struct KeyMap: Hashable, Sendable {
    /// The table with these keys, in its order.
    public private(set) var entries = CommandTable.entries
    /// What the settings say; nil where a key is to mean nothing. Each key may be bound once in a scope: of two lines, one
    /// would not hold.
    private var bound: [Place: Command?] = [:]

    private struct Place: Hashable, Sendable {
        let scope: CommandTable.Scope
        let key: Key
    }

    /// In place of a command: the key means nothing.
    static let nothing = "none"

    /// The keys of the table.
    public init() {}

    /// What a key means where these scopes hold, the first of them first.
    public func command(for key: Key, in scopes: [CommandTable.Scope]) -> Command? {
        for scope in scopes {
            if case .some(nil) = bound[Place(scope: scope, key: key)] { return nil }
            if let entry = entries.first(where: { $0.scope == scope && $0.keys.contains(key) }) {
                return entry.command
            }
        }
        return nil
    }

    /// The first key that gives a command where these scopes hold; for hints.
    public func key(for command: Command, in scopes: [CommandTable.Scope]) -> Key? {
        for scope in scopes {
            for entry in entries where entry.scope == scope && entry.command == command {
                // Nearer by a key may mean something else.
                if let key = entry.keys.first(where: { self.command(for: $0, in: scopes) == command }) { return key }
            }
        }
        return nil
    }

    /// All that can be had where these scopes hold, of the nearest first; of several that are the same the nearest.
    public func entries(in scopes: [CommandTable.Scope]) -> [CommandTable.Entry] {
        var seen: Set<String> = []
        return scopes.flatMap { scope in entries.filter { $0.scope == scope } }.filter {
            seen.insert($0.usage).inserted
        }
    }

    /// Binds a key, all of it as it is written in settings. To `none`, and it means nothing there, whatever it means
    /// elsewhere.
    public mutating func bind(_ keyText: String, to name: String, in scopeName: String) throws(CommandsError) {
        guard let scope = CommandTable.Scope(named: scopeName) else { throw .unknownScope(scopeName) }
        guard let key = Key(keyText) else { throw .unknownKey(keyText) }
        let command = Command(named: name)
        if name != Self.nothing {
            guard let command else { throw .unknownCommand(name, in: scope) }
            guard entries.contains(where: { $0.scope == scope && $0.command == command }) else {
                throw .misplacedCommand(name, in: scope)
            }
        }
        let place = Place(scope: scope, key: key)
        guard bound[place] == nil else { throw .boundTwice(key, in: scope) }
        bound[place] = .some(command)
        for index in entries.indices where entries[index].scope == scope {
            entries[index].keys.removeAll { $0 == key }
            // What the user has bound himself comes first in hints.
            if entries[index].command == command { entries[index].keys.insert(key, at: 0) }
        }
    }
}

/// What can be wrong with keys and commands as users write them.
public enum CommandsError: Error, Equatable, CustomStringConvertible {
    /// There is no such scope.
    case unknownScope(String)
    /// It is no key.
    case unknownKey(String)
    /// There is no such command.
    case unknownCommand(String, in: CommandTable.Scope)
    /// The scope does not have the command.
    case misplacedCommand(String, in: CommandTable.Scope)
    /// An earlier line says what the key means.
    case boundTwice(Key, in: CommandTable.Scope)

    /// Nothing has that name; what may have been meant.
    case unknownName(String, nearest: String?)
    /// The command means nothing on this screen.
    case nothingHere(String)
    /// The command needs something behind its name; what.
    case missingArgument(String, String)
    /// The command takes nothing behind its name.
    case unexpectedArgument(String, String)
    /// The command takes a number.
    case noNumber(String, of: String)

    /// A sentence for the user.
    public var description: String {
        switch self {
        case .unknownScope(let name):
            let names = CommandTable.Scope.allCases.map(\.name).joined(separator: ", ")
            return "There is no scope “\(name)”: one of \(names)."
        case .unknownKey(let text):
            return "“\(text)” is no key: a character, ^F for Control, M-f for Alt, or a name like Enter, PgUp, F1."
        case .unknownCommand(let name, let scope):
            return "There is no command “\(name)”; “\(scope.name)” has \(Self.commands(of: scope))."
        case .misplacedCommand(let name, let scope):
            return "“\(name)” is no command of “\(scope.name)”, which has \(Self.commands(of: scope))."
        case .boundTwice(let key, let scope): return "“\(key)” is bound in “\(scope.name)” already."
        case .unknownName(let name, let nearest):
            return "There is no command “\(name)”" + (nearest.map { "; did you mean “\($0)”?" } ?? ".")
        case .nothingHere(let name): return "“\(name)” means nothing here."
        case .missingArgument(let name, let argument): return "“\(name)” needs something: \(name) \(argument)."
        case .unexpectedArgument(let name, let text): return "“\(name)” takes nothing, and has “\(text)”."
        case .noNumber(let text, let name):
            return "“\(text)” is no number for “\(name)”: one from 1 to \(CommandArgument.largestNumber)."
        }
    }

    private static func commands(of scope: CommandTable.Scope) -> String {
        let names = CommandTable.entries.filter { $0.scope == scope }.map(\.command.name)
        return (names + [KeyMap.nothing]).joined(separator: ", ")
    }
}
