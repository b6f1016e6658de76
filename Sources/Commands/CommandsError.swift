import Cells

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
