/// An option of the command line, whether it is a setting or not.
public struct InvocationOption: Sendable {
    /// Whom an option means something to.
    public enum Owner: Equatable, Sendable {
        /// Whatever is done.
        case everything
        /// These commands.
        case commands([String])
        /// Another option.
        case option(String)
    }

    /// What can stand behind it, for those who complete it.
    public enum Values: Equatable, Sendable {
        /// One of these.
        case words([String])
        /// A file.
        case file
        /// A folder.
        case folder
        /// What only the user knows.
        case anything
    }

    /// As it stands behind `--`.
    public let name: String
    /// The short form.
    public let letter: Character?
    /// What its value is called; nil for a switch.
    public let value: String?
    /// What it does.
    public let meaning: String
    /// Whom it means something to.
    public let owner: Owner
    /// The setting that it is another word for.
    let setting: Invocation.Setting?

    init(
        _ name: String, letter: Character? = nil, value: String? = nil, for owner: Owner = .everything,
        setting: Invocation.Setting? = nil, _ meaning: String
    ) {
        self.name = name
        self.letter = letter
        self.value = value
        self.meaning = meaning
        self.owner = owner
        self.setting = setting
    }

    /// The option that a setting is on the command line.
    init(_ option: SettingsOption) {
        self.init(option.name, letter: option.letter, value: option.value, option.meaning)
    }

    /// What can stand behind it; nil for a switch.
    public var values: Values? {
        switch value {
        case nil: return nil
        case "FILE": return .file
        case "DIR": return .folder
        case let value?:
            // Capital letters stand for something, small ones for themselves.
            let words = value.split(separator: "|").map(String.init)
                .filter { !$0.contains(where: \.isUppercase) }
            return words.isEmpty ? .anything : .words(words)
        }
    }

    /// Whether a command knows it.
    func belongs(to command: String) -> Bool {
        switch owner {
        case .everything: true
        case .commands(let commands): commands.contains(command)
        case .option: false
        }
    }

    /// As the help has it: `-C, --config FILE`.
    var usage: String {
        (letter.map { "-\($0), " } ?? "    ") + "--" + name + (value.map { " " + $0 } ?? "")
    }

    /// What it does, and for whom, if not for all.
    var explanation: String {
        switch owner {
        case .everything: meaning
        case .commands(let commands): "with \(commands.joined(separator: ", ")): \(meaning)"
        case .option(let name): "with --\(name): \(meaning)"
        }
    }
}
