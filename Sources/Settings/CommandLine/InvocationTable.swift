/// The commands, and the options that are not settings.
///
/// The parser, the help, the manual page and the completions use this table and ``SettingsTable``.
public enum InvocationTable {
    /// All commands, in the order of the help.
    public static let subcommands: [Subcommand] = [
        Subcommand(
            "", [.gallery],
            ("[OPTION]… [GALLERY]", "open a URL, file or folder; default: continue where you last stopped")),
        Subcommand(
            "sync", [.gallery],
            (
                "[--list-only|--photos] [--albums] [GALLERY…|--all]",
                "fetch photo lists and thumbnails, or lists only, or photos too"
            )),
        Subcommand(
            "list", [.gallery],
            ("[--json] [--matching TEXT] GALLERY", "print id, date, name and state of photos in the cached list"),
            ("--albums [--json] GALLERY", "print address, kind, name and photo count of cached albums")),
        Subcommand(
            "show", [.file],
            (
                "[--size COLSxROWS] [--symbols …] [--pixels …] [--colors …] FILE…", "draw pictures on standard output"
            )),
        Subcommand(
            "info", [.file], ("[--json] FILE|GALLERY#ID…", "print metadata of photos, EXIF included")),
        Subcommand(
            "publish", [.folder, .anything],
            ("FOLDER", "turn a folder of photos into a gallery"),
            ("FOLDER s3://BUCKET/PREFIX", "also send the gallery to an S3 bucket")),
        Subcommand(
            "export", [.gallery, .folder, .anything],
            ("[--matching TEXT] GALLERY FOLDER [ID…]", "copy photos into a folder, fetching missing ones"),
            ("--unattended", "internal: finish an export after you quit")),
        Subcommand(
            "cache", [.words(Invocation.CacheAction.names), .gallery],
            ("info|check [GALLERY|--all]", "show cache sizes, or verify and repair the cache"),
            ("clear [--photos] GALLERY|--all", "remove the cache, or only its photos")),
        Subcommand(
            "config", [.words(["check", "list", "path"]), .file],
            ("list [--json]|path", "print all settings, or the path of the settings file"),
            ("check [--json] [FILE]", "find mistakes in the settings file or another file")),
        Subcommand("man", [], ("", "print the manual page; view it with “vitrine man | man -l -”")),
        Subcommand(
            "completions", [.words(Invocation.Shell.allCases.map(\.rawValue))],
            (
                Invocation.Shell.allCases.map(\.rawValue).joined(separator: "|"),
                "print shell completions"
            )),
    ]

    /// The options that are not settings. The help lists them in this order, after the settings.
    public static let options: [InvocationOption] = [
        InvocationOption("config", letter: "C", value: "FILE", "use this settings file"),
        InvocationOption("clear-setup", "at the start, remove the gallery list and your positions, without asking"),
        InvocationOption("clear-cache", "at the start, remove all caches without asking"),
        InvocationOption(
            "no-color", setting: Invocation.Setting(name: "colors", value: "none"), "same as --colors none"),
        InvocationOption("list-only", for: .commands(["sync"]), "fetch only the lists of photos"),
        InvocationOption(
            "photos", for: .commands(["sync", "cache"]),
            "fetch photos too, but no videos (sync), or clear only photos (cache)"),
        InvocationOption("all", for: .commands(["sync", "cache"]), "work on all known galleries"),
        InvocationOption(
            "albums", for: .commands(["sync", "list"]), "fetch or print the server's albums, people and tags"),
        InvocationOption(
            "matching", value: "TEXT", for: .commands(["list", "export"]),
            "use only photos that match a search, such as “rating:4”"),
        InvocationOption(
            "unattended", for: .commands(["export"]), "internal: finish an export after you quit"),
        InvocationOption("json", for: .commands(["list", "info", "config"]), "print JSON"),
        InvocationOption("size", value: "COLSxROWS", for: .commands(["show"]), "maximum size of a picture, in cells"),
        InvocationOption("help", letter: "h", "print this help"),
        InvocationOption("version", letter: "V", "print the version"),
        InvocationOption(
            "verbose", for: .option("version"), "also print details of terminal, decoder and sandbox"),
    ]

    /// All options, including the settings.
    public static var everyOption: [InvocationOption] {
        [options[0]] + SettingsTable.options.map { InvocationOption($0) } + options.dropFirst()
    }

    /// The exit codes of the program, with their meanings.
    public static let exitCodes: [(code: Int, meaning: String)] = [
        (0, "done"), (1, "part of the work failed"), (2, "invalid usage or settings"), (3, "no terminal"),
        (4, "cache or folder in use"),
    ]

    static func option(named name: String) -> InvocationOption? {
        options.first { $0.name == name }
    }

    static func option(lettered letter: Character) -> InvocationOption? {
        options.first { $0.letter == letter }
    }

    static func subcommand(named name: String) -> Subcommand? {
        subcommands.first { $0.name == name }
    }
}

/// The kind of an argument or of an option's value. Shell completions depend on the kind.
public enum ValueKind: Equatable, Sendable {
    /// One of these words.
    case words([String])
    /// A gallery: a URL, a file or a folder.
    case gallery
    /// A file.
    case file
    /// A folder.
    case folder
    /// Any text.
    case anything
}

/// A command of the command line.
public struct Subcommand: Sendable {
    /// One way to use a command, with its description.
    public struct Form: Sendable {
        /// The arguments after the command's name, as the help shows them.
        public let usage: String
        /// The description in the help.
        public let meaning: String
    }

    /// The command's name; empty for browsing.
    public let name: String
    /// The ways to use the command.
    public let forms: [Form]
    /// The kinds of the arguments, in order. The last argument may repeat.
    public let arguments: [ValueKind]

    init(_ name: String, _ arguments: [ValueKind], _ forms: (usage: String, meaning: String)...) {
        self.name = name
        self.arguments = arguments
        self.forms = forms.map { Form(usage: $0.usage, meaning: $0.meaning) }
    }

    /// The options that only some commands accept, among them this command.
    public var options: [InvocationOption] {
        InvocationTable.options.filter { $0.owner != .everything && $0.belongs(to: name) }
    }

    /// Returns whether the argument at an index may repeat. The user types a choice of words only once.
    func repeats(_ index: Int) -> Bool {
        if case .words = arguments[index] { return false }
        return index == arguments.count - 1 && !name.isEmpty
    }

    /// Returns the command line of a form: the program, the command and its arguments.
    func line(of form: Form) -> String {
        ["vitrine", name, form.usage].filter { !$0.isEmpty }.joined(separator: " ")
    }
}

/// An option of the command line.
public struct InvocationOption: Sendable {
    /// The commands that accept an option.
    public enum Owner: Equatable, Sendable {
        /// All commands.
        case everything
        /// These commands.
        case commands([String])
        /// All commands, but only together with another option.
        case option(String)
    }

    /// The option's name, which follows `--`.
    public let name: String
    /// The letter of the short form, which follows `-`.
    public let letter: Character?
    /// The placeholder for the value in the help; nil for a switch.
    public let value: String?
    /// The description in the help.
    public let meaning: String
    /// The commands that accept the option.
    public let owner: Owner
    /// The words that a switch accepts after `=`; empty for other options.
    let switchWords: [String]
    /// The setting that the option stands for, if any. For example, `no-color` stands for `colors = none`.
    let setting: Invocation.Setting?

    init(
        _ name: String, letter: Character? = nil, value: String? = nil, for owner: Owner = .everything,
        setting: Invocation.Setting? = nil, switchWords: [String] = [], _ meaning: String
    ) {
        self.name = name
        self.letter = letter
        self.value = value
        self.meaning = meaning
        self.owner = owner
        self.setting = setting
        self.switchWords = switchWords
    }

    /// Creates the command-line option of a setting.
    init(_ option: SettingsOption) {
        self.init(
            option.name, letter: option.letter, value: option.value,
            switchWords: option.value == nil ? option.choices : [], option.meaning)
    }

    /// The kind of the option's value; nil for a switch.
    public var values: ValueKind? {
        switch value {
        case nil: return nil
        case "FILE": return .file
        case "DIR": return .folder
        case let value?:
            // Words with capital letters are placeholders.
            let words = value.split(separator: "|").map(String.init)
                .filter { !$0.contains(where: \.isUppercase) }
            return words.isEmpty ? .anything : .words(words)
        }
    }

    /// Returns whether a command accepts the option.
    func belongs(to command: String) -> Bool {
        switch owner {
        case .everything: true
        case .commands(let commands): commands.contains(command)
        case .option: false
        }
    }

    /// The option as the help shows it: `-C, --config FILE`.
    var usage: String {
        (letter.map { "-\($0), " } ?? "    ") + "--" + name + (value.map { " " + $0 } ?? "")
    }

    /// The description for the help, with the commands that accept the option.
    var explanation: String {
        switch owner {
        case .everything: meaning
        case .commands(let commands): "with \(commands.joined(separator: ", ")): \(meaning)"
        case .option(let name): "with --\(name): \(meaning)"
        }
    }
}

/// The text of `--help`, made from the tables of commands and options.
public enum HelpText {
    /// The whole text of `--help`.
    public static var text: String {
        "Vitrine: a terminal browser for photo galleries on the network.\n\nUsage:\n"
            + InvocationTable.subcommands.flatMap(forms).joined(separator: "\n") + "\n\nOptions:\n"
            + InvocationTable.everyOption.map { line($0.usage, $0.explanation, column: 28) }.joined(separator: "\n")
            + "\n\n" + closing
    }

    private static var closing: String {
        let codes = InvocationTable.exitCodes.map { "\($0.code) \($0.meaning)" }.joined(separator: ", ")
        return """
            Exit codes: \(codes).
            Settings: “name = value” lines with these names in $XDG_CONFIG_HOME/vitrine/config. Keys: press ? in Vitrine.

            """
    }

    private static func forms(_ command: Subcommand) -> [String] {
        command.forms.map { line(command.line(of: $0), $0.meaning, column: 34) }
    }

    private static func line(_ text: String, _ meaning: String, column: Int) -> String {
        // After a long usage, the meaning is on the next line.
        let gap =
            text.count < column
            ? String(repeating: " ", count: column - text.count) : "\n" + String(repeating: " ", count: column + 2)
        return "  " + text + gap + meaning
    }
}
