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
