/// What a command line asks for.
public struct Invocation: Equatable, Sendable {
    /// What to do.
    public enum Command: Equatable, Sendable {
        /// Browse a gallery; the last one, if none is named.
        case browse(String?)
        /// Fill the caches of galleries; of all that are known, if none is named.
        case sync(SyncScope, [String])
        /// List what the cache knows of a gallery.
        case list(json: Bool, String)
        /// Draw pictures on standard output.
        case show(size: ShowSize?, [String])
        /// Say what is known of pictures.
        case info(json: Bool, [String])
        /// Make a folder of photos a gallery.
        case publish(String)
        /// Copy photos of a gallery into a folder: those of these ids, or all.
        case export(String, folder: String, ids: [String])
        /// Look after caches.
        case cache(CacheAction, CacheTarget)
        /// Write the manual page.
        case man
        /// Write what makes a shell complete command lines.
        case completions(Shell)
        /// Say what can be set, and what is.
        case config(ConfigAction)
        /// Explain the command line.
        case help
        /// Say which version this is; verbosely, also what was found out about where it runs.
        case version(isVerbose: Bool)
    }

    /// What `sync` fetches.
    public enum SyncScope: Equatable, Sendable {
        /// The list and the thumbnails.
        case thumbnails
        /// The list alone.
        case list
        /// The photos too.
        case photos
    }

    /// What `cache` does.
    public enum CacheAction: String, CaseIterable, Equatable, Sendable {
        case info, clear, check
        /// Clear, but the photos alone.
        case clearPhotos = "clear --photos"

        /// What is typed for them: an option is no word.
        static var names: [String] { allCases.map(\.rawValue).filter { !$0.contains(" ") } }
    }

    /// Shells that complete command lines.
    public enum Shell: String, CaseIterable, Equatable, Sendable {
        case bash, zsh, fish
    }

    /// Whose cache it does it to.
    public enum CacheTarget: Equatable, Sendable {
        /// Every gallery's.
        case all
        /// One gallery's.
        case gallery(String)
    }

    /// What `config` does.
    public enum ConfigAction: Equatable, Sendable {
        /// List every option.
        case list(json: Bool)
        /// Say which settings file is read.
        case path
        /// Say what is wrong with a settings file; with the one that is read, if none is named.
        case check(json: Bool, String?)
    }

    /// The room for a picture, in cells.
    public struct ShowSize: Equatable, Sendable {
        /// How wide.
        public let columns: Int
        /// How high.
        public let rows: Int
    }

    /// What to do.
    public var command: Command
    /// A settings file in place of the usual one.
    public var settingsFile: String?
    /// What the command line sets, by name and value, in order. It comes after the settings file.
    public var settings: [Setting] = []

    /// Whether the list of galleries and the place are forgotten first, without a question.
    public var clearsSetup = false
    /// Whether all caches are removed first, without a question.
    public var clearsCache = false

    /// One thing that the command line sets.
    public struct Setting: Equatable, Sendable {
        let name: String
        let value: String
    }

    /// The options of the command line, and the settings file that it names, as arguments of another command.
    public var settingArguments: [String] {
        (settingsFile.map { ["--config=" + $0] } ?? []) + settings.map { "--\($0.name)=\($0.value)" }
    }

    /// Applies what the command line sets.
    public func apply(to settings: inout Settings) throws(SettingsError) {
        for setting in self.settings {
            guard let option = SettingsTable.option(named: setting.name) else { throw .unknownOption(setting.name) }
            try option.set(setting.value, in: &settings)
        }
    }
}

/// Reads a command line: options and words in any order, up to `--`, behind which all are words.
private struct InvocationParser {
    private var rest: ArraySlice<String>
    private var words: [String] = []
    private var settings: [Invocation.Setting] = []
    /// What was named that is no setting, in order, with its value.
    private var given: [(option: InvocationOption, value: String)] = []

    init(_ arguments: some Sequence<String>) {
        rest = Array(arguments)[...]
    }

    mutating func parse() throws(SettingsError) -> Invocation {
        var isOnlyWords = false
        while let argument = rest.popFirst() {
            if isOnlyWords || argument == "-" || !argument.hasPrefix("-") {
                words.append(argument)
            } else if argument == "--" {
                isOnlyWords = true
            } else if argument.hasPrefix("--") {
                try parseLong(argument.dropFirst(2))
            } else {
                try parseShort(argument.dropFirst())
            }
        }
        let command = has("help") ? .help : has("version") ? .version(isVerbose: has("verbose")) : try command()
        return Invocation(
            command: command, settingsFile: value(of: "config"), settings: settings, clearsSetup: has("clear-setup"),
            clearsCache: has("clear-cache"))
    }

    private func has(_ name: String) -> Bool { given.contains { $0.option.name == name } }

    /// The last one counts.
    private func value(of name: String) -> String? { given.last { $0.option.name == name }?.value }

    /// `--name`, `--name=value`, `--name value`.
    private mutating func parseLong(_ argument: Substring) throws(SettingsError) {
        let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        let (name, value) = (parts[0], parts.count > 1 ? parts[1] : nil)
        if let option = InvocationTable.option(named: name) {
            if option.value == nil, value != nil { throw .unexpectedValue("--" + name) }
            return note(option, option.value == nil ? "" : try self.value(value, of: "--" + name))
        }
        guard let option = SettingsTable.option(named: name) else { throw .unknownOption("--" + name) }
        if option.value == nil {
            settings.append(Invocation.Setting(name: name, value: value ?? "yes"))
        } else {
            settings.append(Invocation.Setting(name: name, value: try self.value(value, of: "--" + name)))
        }
    }

    private mutating func note(_ option: InvocationOption, _ value: String) {
        given.append((option, value))
        if let setting = option.setting { settings.append(setting) }
    }

    /// `-o value`, `-ovalue`, and switches together.
    private mutating func parseShort(_ argument: Substring) throws(SettingsError) {
        var letters = argument
        while let letter = letters.popFirst() {
            if let option = InvocationTable.option(lettered: letter) {
                guard option.value != nil else {
                    note(option, "")
                    continue
                }
                return note(option, try letters.isEmpty ? next("-\(letter)") : String(letters))
            }
            guard let option = SettingsTable.option(lettered: letter) else { throw .unknownOption("-\(letter)") }
            let value = try letters.isEmpty ? next("-\(letter)") : String(letters)
            return settings.append(Invocation.Setting(name: option.name, value: value))
        }
    }

    /// What stood behind `=`, or else the next argument.
    private mutating func value(_ given: String?, of name: String) throws(SettingsError) -> String {
        if let given { return given }
        return try next(name)
    }

    private mutating func next(_ name: String) throws(SettingsError) -> String {
        guard let value = rest.popFirst() else { throw .missingValue(name) }
        return value
    }

    private static func size(_ text: String) throws(SettingsError) -> Invocation.ShowSize {
        let sides = text.split(separator: "x", omittingEmptySubsequences: false).compactMap { Int($0) }
        guard sides.count == 2, (1...1_000).contains(sides[0]), (1...1_000).contains(sides[1]) else {
            throw .value(text, of: "--size", allowed: "columns and rows, like 80x24")
        }
        return Invocation.ShowSize(columns: sides[0], rows: sides[1])
    }

    // MARK: - Commands

    private func command() throws(SettingsError) -> Invocation.Command {
        // Behind a word that is no command's name stands what browsing takes.
        let name = words.first.flatMap { InvocationTable.subcommand(named: $0) }?.name ?? ""
        let arguments = Array(words.dropFirst())
        if let other = given.first(where: { !$0.option.belongs(to: name) }) {
            throw .misplacedOption("--" + other.option.name)
        }
        if has("list-only"), has("photos") { throw .conflict("--list-only", "--photos") }
        switch words.first {
        case "sync":
            if has("all"), let extra = arguments.first { throw .unexpectedArgument(extra) }
            return .sync(has("list-only") ? .list : has("photos") ? .photos : .thumbnails, arguments)
        case "list": return .list(json: has("json"), try only(arguments, "The gallery"))
        case "show":
            guard !arguments.isEmpty else { throw .missingArgument("The file") }
            return .show(size: try value(of: "size").map(Self.size), arguments)
        case "info":
            guard !arguments.isEmpty else { throw .missingArgument("The file, or GALLERY#ID,") }
            return .info(json: has("json"), arguments)
        case "publish": return .publish(try only(arguments, "The folder"))
        case "export":
            guard let gallery = arguments.first else { throw .missingArgument("The gallery") }
            guard arguments.count > 1 else { throw .missingArgument("The folder") }
            return .export(gallery, folder: arguments[1], ids: Array(arguments.dropFirst(2)))
        case "cache": return try cacheCommand(arguments)
        case "man":
            if let extra = arguments.first { throw .unexpectedArgument(extra) }
            return .man
        case "completions": return .completions(try shell(arguments))
        case "config": return .config(try configAction(arguments))
        default:
            if words.count > 1 { throw .unexpectedArgument(words[1]) }
            return .browse(words.first)
        }
    }

    private func cacheCommand(_ arguments: [String]) throws(SettingsError) -> Invocation.Command {
        guard let name = arguments.first else { throw .missingArgument("“info”, “clear” or “check”") }
        guard var action = Invocation.CacheAction(rawValue: name) else { throw .unknownCommand("cache \(name)") }
        if has("photos") {
            guard action == .clear else { throw .misplacedOption("--photos") }
            action = .clearPhotos
        }
        let rest = Array(arguments.dropFirst())
        if has("all") || (rest.isEmpty && (action == .info || action == .check)) {
            if let extra = rest.first { throw .unexpectedArgument(extra) }
            return .cache(action, .all)
        }
        return .cache(action, .gallery(try only(rest, "The gallery, or --all,")))
    }

    private func shell(_ arguments: [String]) throws(SettingsError) -> Invocation.Shell {
        let name = try only(arguments, "“bash”, “zsh” or “fish”")
        guard let shell = Invocation.Shell(rawValue: name) else { throw .unknownCommand("completions \(name)") }
        return shell
    }

    private func configAction(_ arguments: [String]) throws(SettingsError) -> Invocation.ConfigAction {
        guard let name = arguments.first else { throw .missingArgument("“list”, “path” or “check”") }
        if let extra = arguments.dropFirst(name == "check" ? 2 : 1).first { throw .unexpectedArgument(extra) }
        switch name {
        case "list": return .list(json: has("json"))
        case "path" where has("json"): throw .misplacedOption("--json")
        case "path": return .path
        case "check": return .check(json: has("json"), arguments.dropFirst().first)
        default: throw .unknownCommand("config \(name)")
        }
    }

    private func only(_ arguments: [String], _ what: String) throws(SettingsError) -> String {
        guard let first = arguments.first else { throw .missingArgument(what) }
        guard arguments.count == 1 else { throw .unexpectedArgument(arguments[1]) }
        return first
    }
}

extension Invocation {
    /// Reads a command line, without the program's name.
    public init(_ arguments: some Sequence<String>) throws(SettingsError) {
        var parser = InvocationParser(arguments)
        self = try parser.parse()
    }
}
