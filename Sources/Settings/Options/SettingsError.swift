import Commands
import Model

/// A mistake in settings or on a command line.
public enum SettingsError: Error, Equatable, CustomStringConvertible {
    /// No option has this name.
    case unknownOption(String)
    /// No setting has this name, which the user typed on a screen.
    case unknownSetting(String)
    /// The program cannot use a changed value; the text says why.
    case unusable(String)
    /// The option belongs to another command.
    case misplacedOption(String)
    /// The options contradict each other.
    case conflict(String, String)
    /// The option lacks its value.
    case missingValue(String)
    /// The option takes no value.
    case unexpectedValue(String)
    /// The option does not allow this value; `allowed` describes the allowed values.
    case value(String, of: String, allowed: String)
    /// A line of the settings file does not have the form `name = value`.
    case notASetting(String)
    /// A line begins with `bind` but does not have the form of a key binding.
    case notABinding(String)
    /// A key binding names an unknown key, scope or command.
    case binding(CommandsError)
    /// A line of the settings file is not UTF-8.
    case notUTF8
    /// An argument of the command line is not UTF-8.
    case argumentNotUTF8(String)
    /// An earlier line of the settings file sets the same option.
    case repeated(String, line: Int)
    /// No command has this name.
    case unknownCommand(String)
    /// The command lacks an argument.
    case missingArgument(String)
    /// The command line has an argument that the command does not take.
    case unexpectedArgument(String)
    /// The system cannot read or write a file, for this reason.
    case file(path: String, reason: String)

    /// The error as a sentence for the user. Passwords in quoted addresses are removed.
    public var description: String { Address.withoutCredentials(sentence) }

    private var sentence: String {
        switch self {
        case .unknownOption(let name):
            "Unknown option “\(Self.short(name))”; "
                + (SettingsTable.nearest(to: name).map { "did you mean “\($0)”?" } ?? "see --help.")
        case .unknownSetting(let name):
            "Unknown setting “\(Self.short(name))”"
                + (SettingsTable.nearest(to: name).map { "; did you mean “\($0)”?" } ?? ".")
        case .unusable(let reason): reason
        case .misplacedOption(let name): "“\(name)” does not apply to this command; see --help."
        case .conflict(let one, let other): "Use only one of “\(one)” and “\(other)”."
        case .missingValue(let name): "“\(name)” needs a value."
        case .unexpectedValue(let name): "“\(name)” takes no value."
        case .value(let value, let name, let allowed):
            "Invalid value “\(Self.short(value))” for “\(name)”: use \(allowed)."
        case .notASetting(let line): "“\(Self.short(line))” is not of the form “name = value”."
        case .notUTF8: "The line is not UTF-8."
        case .argumentNotUTF8(let argument): "The argument “\(Self.short(argument))” is not UTF-8."
        case .repeated(let name, let line): "Line \(line) also sets “\(name)”. Vitrine uses the last of these lines."
        case .notABinding(let line): "“\(line)” is not of the form “bind SCOPE KEY = command”."
        case .binding(let error): error.description
        case .unknownCommand(let name): "Unknown command “\(name)”; see --help."
        case .missingArgument(let what): "Missing \(what); see --help."
        case .unexpectedArgument(let argument): "Unexpected argument “\(argument)”; see --help."
        case .file(let path, let reason): "\(path): \(reason)."
        }
    }

    /// Returns the input, shortened for a message.
    private static func short(_ text: String) -> String {
        // Remove the password first. In a text that is cut before the `@`, the password would not be recognised.
        let text = Address.withoutCredentials(text)
        return text.count > 60 ? text.prefix(59) + "…" : text
    }
}
