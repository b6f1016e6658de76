import Commands
import Model

/// What can be wrong with settings and command lines.
public enum SettingsError: Error, Equatable, CustomStringConvertible {
    /// There is no such option.
    case unknownOption(String)
    /// The option belongs to another command.
    case misplacedOption(String)
    /// The options ask for different things.
    case conflict(String, String)
    /// The option needs a value and has none.
    case missingValue(String)
    /// The option takes no value and has one.
    case unexpectedValue(String)
    /// The value is not one of those that are allowed.
    case value(String, of: String, allowed: String)
    /// A line of the settings file is not `name = value`.
    case notASetting(String)
    /// A line of the settings file begins like one that binds a key, and does not go on so.
    case notABinding(String)
    /// A line binds what it cannot.
    case binding(CommandsError)
    /// A line of the settings file is not UTF-8.
    case notUTF8
    /// The settings file has set the option before; in which line.
    case repeated(String, line: Int)
    /// There is no such command.
    case unknownCommand(String)
    /// A command lacks something.
    case missingArgument(String)
    /// A command has been given too much.
    case unexpectedArgument(String)
    /// A file cannot be read or written; the system's reason.
    case file(path: String, reason: String)

    /// A sentence for the user. What he wrote in the wrong place may be an address, and have a password in it.
    public var description: String { Address.withoutCredentials(sentence) }

    private var sentence: String {
        switch self {
        case .unknownOption(let name):
            "There is no option “\(Self.short(name))”; "
                + (SettingsTable.nearest(to: name).map { "the nearest is “\($0)”." } ?? "see --help.")
        case .misplacedOption(let name): "“\(name)” means nothing to this command; see --help."
        case .conflict(let one, let other): "“\(one)” and “\(other)” exclude each other."
        case .missingValue(let name): "“\(name)” needs a value."
        case .unexpectedValue(let name): "“\(name)” takes no value."
        case .value(let value, let name, let allowed): "“\(Self.short(value))” is no value for “\(name)”: \(allowed)."
        case .notASetting(let line): "“\(Self.short(line))” is not of the form “name = value”."
        case .notUTF8: "The line is not in UTF-8."
        case .repeated(let name, let line): "“\(name)” is set in line \(line) already; the last line holds."
        case .notABinding(let line): "“\(line)” is not of the form “bind SCOPE KEY = command”."
        case .binding(let error): error.description
        case .unknownCommand(let name): "There is no command “\(name)”; see --help."
        case .missingArgument(let what): "\(what) is missing; see --help."
        case .unexpectedArgument(let argument): "“\(argument)” is one too many; see --help."
        case .file(let path, let reason): "\(path): \(reason)."
        }
    }
    /// What somebody wrote may be as long as he likes; it is named, and not all of it told.
    private static func short(_ text: String) -> String {
        // Cut off before the `@`, a password would not be known for one.
        let text = Address.withoutCredentials(text)
        return text.count > 60 ? text.prefix(59) + "…" : text
    }
}
