import Cells

/// The key bindings of one user: the default keys, changed by the settings.
///
///     var keys = KeyMap()
///     try keys.bind("J", to: "page-down", in: "lists")
///     keys.command(for: .character("J"), in: [.photos, .lists, .everywhere])   // .pageDown
public struct KeyMap: Hashable, Sendable {
    /// The command table with the user's keys, in the order of the table.
    public private(set) var entries = CommandTable.entries
    /// The bindings from the settings; nil unbinds a key. A second binding of a key in the same scope is an error, so
    /// that no line of the settings is without effect.
    private var bound: [Binding: Command?] = [:]
    /// The command of each key in `entries`. Screens look up the keys for their hints in each frame, so the lookup must
    /// be fast.
    private var commands = Self.commands(of: CommandTable.entries)

    private struct Binding: Hashable, Sendable {
        let scope: CommandTable.Scope
        let key: Key
    }

    /// The word in the settings that unbinds a key.
    static let nothing = "none"

    /// Creates a key map with the default keys.
    public init() {}

    /// Returns the command that a key runs in these scopes. Earlier scopes have precedence.
    public func command(for key: Key, in scopes: [CommandTable.Scope]) -> Command? {
        for scope in scopes {
            if case .some(nil) = bound[Binding(scope: scope, key: key)] { return nil }
            if let command = commands[Binding(scope: scope, key: key)] { return command }
        }
        return nil
    }

    /// Returns whether a key has a command that works while the user types.
    ///
    /// These are the commands of all lists and all screens. Other commands would act on the entries below the typed
    /// text.
    public func worksWhileTyping(_ key: Key, in scopes: [CommandTable.Scope]) -> Bool {
        guard let command = self.command(for: key, in: scopes) else { return false }
        return command == self.command(for: key, in: [.lists, .everywhere])
    }

    /// Returns the first key that runs a command in these scopes, for hints.
    public func key(for command: Command, in scopes: [CommandTable.Scope]) -> Key? {
        for scope in scopes {
            // Loop over indices, because a loop over entries would copy each entry.
            for index in entries.indices where entries[index].scope == scope && entries[index].command == command {
                // An earlier scope may bind the key to another command.
                if let key = entries[index].keys.first(where: { self.command(for: $0, in: scopes) == command }) {
                    return key
                }
            }
        }
        return nil
    }

    /// Returns the entries scope by scope, without repeated commands.
    public func entries(in scopes: [CommandTable.Scope]) -> [CommandTable.Entry] {
        var seen: Set<String> = []
        return scopes.flatMap { scope in entries.filter { $0.scope == scope } }.filter {
            seen.insert($0.usage).inserted
        }
    }

    /// Binds a key to a command in a scope. The name `none` unbinds the key in this scope and in scopes of lower
    /// precedence.
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
        let binding = Binding(scope: scope, key: key)
        guard bound[binding] == nil else { throw .boundTwice(key, in: scope) }
        bound[binding] = .some(command)
        for index in entries.indices where entries[index].scope == scope {
            entries[index].keys.removeAll { $0 == key }
            // Hints prefer the user's own bindings.
            if entries[index].command == command { entries[index].keys.insert(key, at: 0) }
        }
        commands = Self.commands(of: entries)
    }

    /// Returns the command of each key in each scope. Within a scope, earlier entries have precedence.
    private static func commands(of entries: [CommandTable.Entry]) -> [Binding: Command] {
        var commands: [Binding: Command] = [:]
        for entry in entries {
            for key in entry.keys {
                let binding = Binding(scope: entry.scope, key: key)
                if commands[binding] == nil { commands[binding] = entry.command }
            }
        }
        return commands
    }
}

/// An error in a key binding or a typed command.
public enum CommandsError: Error, Equatable, CustomStringConvertible {
    case unknownScope(String)
    case unknownKey(String)
    case unknownCommand(String, in: CommandTable.Scope)
    /// The command exists, but not in this scope.
    case misplacedCommand(String, in: CommandTable.Scope)
    /// An earlier line of the settings already binds the key in this scope.
    case boundTwice(Key, in: CommandTable.Scope)

    /// No command has the name; `nearest` is a similar name to suggest.
    case unknownName(String, nearest: String?)
    /// The command does not apply to this screen.
    case nothingHere(String)
    /// The command needs an argument. The values are the names of the command and of the argument.
    case missingArgument(String, String)
    /// The user typed an argument after a command that takes no argument.
    case unexpectedArgument(String, String)
    /// The command needs a number in this range, but the user typed another text.
    case noNumber(String, of: String, ClosedRange<Int>)

    /// The error as a sentence for the user.
    public var description: String {
        switch self {
        case .unknownScope(let name):
            let names = CommandTable.Scope.allCases.map(\.name).joined(separator: ", ")
            return "Unknown scope “\(name)”. Use one of \(names)."
        case .unknownKey(let text):
            return
                "Unknown key “\(text)”. Write a character, ^F for Ctrl+F, M-f for Alt+F, or a name like PgUp or F1."
        case .unknownCommand(let name, let scope):
            return "Unknown command “\(name)”. In the scope “\(scope.name)”, use one of \(Self.commands(of: scope))."
        case .misplacedCommand(let name, let scope):
            return "“\(name)” is not a command of the scope “\(scope.name)”. Use one of \(Self.commands(of: scope))."
        case .boundTwice(let key, let scope): return "The key “\(key)” is already bound in the scope “\(scope.name)”."
        case .unknownName(let name, let nearest):
            return "Unknown command “\(name)”." + (nearest.map { " Did you mean “\($0)”?" } ?? "")
        case .nothingHere(let name): return "The command “\(name)” does not apply to this screen."
        case .missingArgument(let name, let argument):
            return "The command “\(name)” needs an argument: \(name) \(argument)."
        case .unexpectedArgument(let name, let text):
            return "The command “\(name)” takes no argument, but got “\(text)”."
        case .noNumber(let text, let name, let numbers):
            let range = "from \(numbers.lowerBound) to \(numbers.upperBound)"
            return "The command “\(name)” needs a number \(range), not “\(text)”."
        }
    }

    private static func commands(of scope: CommandTable.Scope) -> String {
        let names = CommandTable.entries.filter { $0.scope == scope }.map(\.command.name)
        return (names + [KeyMap.nothing]).joined(separator: ", ")
    }
}
