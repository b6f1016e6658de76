/// What the command line knows: its commands, and its options that are no settings. The parser, the help, the manual page
/// and what shells complete are made from this table and from ``SettingsTable``.
public enum InvocationTable {
    /// In the order in which the help lists them.
    public static let subcommands: [Subcommand] = [
        Subcommand(
            "", [.gallery],
            ("[OPTION]… [GALLERY]", "browse; GALLERY is a URL, a file or a folder; default: the last one")),
        Subcommand(
            "sync", [.gallery],
            (
                "[--list-only|--photos] [GALLERY…|--all]",
                "fill the cache: the list and the thumbnails; the list alone; the photos too"
            )),
        Subcommand(
            "list", [.gallery], ("[--json] GALLERY", "the cached photos: id, date, name, state; works offline")),
        Subcommand(
            "show", [.file],
            (
                "[--size COLSxROWS] [--symbols …] [--pixels …] [--colors …] FILE…", "draw pictures on standard output"
            )),
        Subcommand(
            "info", [.file], ("[--json] FILE|GALLERY#ID…", "what is known of photos, EXIF included")),
        Subcommand(
            "publish", [.folder], ("FOLDER", "make a folder of photos a gallery: gallery.xml and thumbnails/")),
        Subcommand(
            "export", [.gallery, .folder, .anything],
            ("GALLERY FOLDER [ID…]", "copy photos into a folder, fetching what is missing")),
        Subcommand(
            "cache", [.words(Invocation.CacheAction.names), .gallery],
            ("info|check [GALLERY|--all]", "sizes; verify it and mend what can be mended"),
            ("clear [--photos] GALLERY|--all", "remove it; the photos alone")),
        Subcommand(
            "config", [.words(["check", "list", "path"]), .file],
            ("list|path [--json]", "every option with its value; which settings file is read"),
            ("check [--json] [FILE]", "what is wrong with it, or with another one")),
        Subcommand("man", [], ("", "write the manual page; “vitrine man | man -l -” shows it")),
        Subcommand(
            "completions", [.words(Invocation.Shell.allCases.map(\.rawValue))],
            (
                Invocation.Shell.allCases.map(\.rawValue).joined(separator: "|"),
                "write what makes a shell complete command lines"
            )),
    ]

    /// Those that are no settings, in the order in which the help lists them, behind the settings.
    public static let options: [InvocationOption] = [
        InvocationOption("config", letter: "C", value: "FILE", "read this settings file"),
        InvocationOption("clear-setup", "forget the galleries and the place first, asking nothing"),
        InvocationOption("clear-cache", "remove all caches first, asking nothing"),
        InvocationOption(
            "no-color", setting: Invocation.Setting(name: "colors", value: "none"), "the same as --colors none"),
        InvocationOption("list-only", for: .commands(["sync"]), "the list alone"),
        InvocationOption("photos", for: .commands(["sync", "cache"]), "the photos too; clear the photos alone"),
        InvocationOption("all", for: .commands(["sync", "cache"]), "all galleries that are known"),
        InvocationOption("json", for: .commands(["list", "info", "config"]), "as JSON"),
        InvocationOption("size", value: "COLSxROWS", for: .commands(["show"]), "the room for a picture, in cells"),
        InvocationOption("help", letter: "h", "this text"),
        InvocationOption("version", letter: "V", "which version this is"),
        InvocationOption(
            "verbose", for: .option("version"), "what the terminal can do, and what decodes pictures"),
    ]

    /// All options, settings too.
    public static var everyOption: [InvocationOption] {
        [options[0]] + SettingsTable.options.map { InvocationOption($0) } + options.dropFirst()
    }

    /// What the program ends with, and what that says.
    public static let exitCodes: [(code: Int, meaning: String)] = [
        (0, "done"), (1, "some of it failed"), (2, "usage or settings"), (3, "not a terminal"),
        (4, "locked by another process"),
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

/// One of the things that Vitrine does, as the command line calls it.
public struct Subcommand: Sendable {
    /// A way to write it, and what is done then.
    public struct Form: Sendable {
        /// What stands behind the name.
        public let usage: String
        /// What it does.
        public let meaning: String
    }

    /// What stands behind its name, for those who complete it.
    public enum Argument: Equatable, Sendable {
        /// One of these.
        case words([String])
        /// A gallery: often a file, or a folder.
        case gallery
        /// A file.
        case file
        /// A folder.
        case folder
        /// What only the user knows.
        case anything
    }

    /// Its name; empty for what is done without one.
    public let name: String
    /// How it is written, in one way or in several.
    public let forms: [Form]
    /// What stands behind it, word by word. The last of them may stand there again and again.
    public let arguments: [Argument]

    init(_ name: String, _ arguments: [Argument], _ forms: (usage: String, meaning: String)...) {
        self.name = name
        self.arguments = arguments
        self.forms = forms.map { Form(usage: $0.usage, meaning: $0.meaning) }
    }

    /// Options that mean something to it, and not to all.
    public var options: [InvocationOption] {
        InvocationTable.options.filter { $0.owner != .everything && $0.belongs(to: name) }
    }
}

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
