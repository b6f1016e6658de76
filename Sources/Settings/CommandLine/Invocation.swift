/// A parsed command line.
public struct Invocation: Equatable, Sendable {
    /// The commands that a command line can name, with their arguments.
    public enum Command: Equatable, Sendable {
        /// Browse a gallery. Without a gallery, continue where the last run ended.
        case browse(String?)
        /// Fill the caches of the named galleries, or of all known galleries if none is named.
        case sync(SyncScope, [String], albums: Bool = false)
        /// List the cached photos of a gallery, or the cached albums of its server.
        case list(json: Bool, albums: Bool = false, matching: String? = nil, String)
        /// Draw pictures on standard output.
        case show(size: ShowSize?, [String])
        /// Print metadata of photos.
        case info(json: Bool, [String])
        /// Turn a folder of photos into a gallery. With an address, send the gallery to the bucket there.
        case publish(String, to: String? = nil)
        /// Copy the photos with these ids into a folder. Without ids, copy all photos. With a search, leave out photos
        /// that do not match.
        case export(String, folder: String, ids: [String], matching: String? = nil)
        /// Continue an export that the full-screen browser passes over standard input.
        case exportUnattended
        /// Show, verify or clear caches.
        case cache(CacheAction, CacheTarget)
        /// Print the manual page.
        case man
        /// Print the completions for a shell.
        case completions(Shell)
        /// Print or check settings.
        case config(ConfigAction)
        /// Print the help.
        case help
        /// Print the version. If verbose, also print details of terminal, decoder and sandbox.
        case version(isVerbose: Bool)
    }

    /// The data that the command `sync` fetches.
    public enum SyncScope: Equatable, Sendable {
        /// The list and the thumbnails.
        case thumbnails
        /// The list only.
        case list
        /// The list, the thumbnails and the photos.
        case photos
    }

    /// The actions of the command `cache`.
    public enum CacheAction: String, CaseIterable, Equatable, Sendable {
        case info, clear, check
        /// Remove only the photos from caches.
        case clearPhotos = "clear --photos"

        /// The words that the user can type for actions. Actions that need an option are left out.
        static var names: [String] { allCases.map(\.rawValue).filter { !$0.contains(" ") } }
    }

    /// The shells for which Vitrine has completions.
    public enum Shell: String, CaseIterable, Equatable, Sendable {
        case bash, zsh, fish
    }

    /// The caches that the command `cache` works on.
    public enum CacheTarget: Equatable, Sendable {
        /// The caches of all galleries.
        case all
        /// The cache of one gallery.
        case gallery(String)
    }

    /// The actions of the command `config`.
    public enum ConfigAction: Equatable, Sendable {
        /// Print every setting.
        case list(json: Bool)
        /// Print the path of the settings file.
        case path
        /// Print the mistakes of the named settings file, or else of the default settings file.
        case check(json: Bool, String?)
    }

    /// The maximum size of a picture, in cells.
    public struct ShowSize: Equatable, Sendable {
        /// The width in columns.
        public let columns: Int
        /// The height in rows.
        public let rows: Int
    }

    /// The command to run, with its arguments.
    public var command: Command
    /// The settings file to use; nil for the default file.
    public var settingsFile: String?
    /// The settings on the command line, in order. They override the settings file.
    public var settings: [Setting] = []

    /// Whether to remove the list of galleries and all positions before the command. Vitrine does not ask the user.
    public var clearsSetup = false
    /// Whether to remove all caches before the command. Vitrine does not ask the user.
    public var clearsCache = false

    /// A setting on the command line: the option's name and value.
    public struct Setting: Equatable, Sendable {
        let name: String
        let value: String
    }

    /// The settings file and the settings, as arguments for another command line.
    public var settingArguments: [String] {
        (settingsFile.map { ["--config=" + $0] } ?? []) + settings.map { "--\($0.name)=\($0.value)" }
    }

    /// Applies the settings of the command line to other settings, which they override.
    public func apply(to settings: inout Settings) throws(SettingsError) {
        for setting in self.settings {
            guard let option = SettingsTable.option(named: setting.name) else { throw .unknownOption(setting.name) }
            try option.set(setting.value, in: &settings)
        }
    }
}

/// Parses options and words in any order; after `--` all arguments are words.
private struct InvocationParser {
    private var rest: ArraySlice<String>
    private var words: [String] = []
    private var settings: [Invocation.Setting] = []
    /// The options that are not settings, in order, with their values.
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

    /// Returns the value of an option. The last value of a repeated option counts.
    private func value(of name: String) -> String? { given.last { $0.option.name == name }?.value }

    /// Parses `--name`, `--name=value` or `--name value`.
    private mutating func parseLong(_ argument: Substring) throws(SettingsError) {
        let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        let (name, value) = (parts[0], parts.count > 1 ? parts[1] : nil)
        if let option = InvocationTable.option(named: name) {
            if option.value == nil, value != nil { throw .unexpectedValue("--" + name) }
            return add(option, option.value == nil ? "" : try self.value(value, of: "--" + name))
        }
        guard let option = SettingsTable.option(named: name) else { throw .unknownOption("--" + name) }
        if option.value == nil {
            settings.append(Invocation.Setting(name: name, value: value ?? "yes"))
        } else {
            settings.append(Invocation.Setting(name: name, value: try self.value(value, of: "--" + name)))
        }
    }

    private mutating func add(_ option: InvocationOption, _ value: String) {
        given.append((option, value))
        if let setting = option.setting { settings.append(setting) }
    }

    /// Parses `-o value`, `-ovalue` or combined switches.
    private mutating func parseShort(_ argument: Substring) throws(SettingsError) {
        var letters = argument
        while let letter = letters.popFirst() {
            if let option = InvocationTable.option(lettered: letter) {
                guard option.value != nil else {
                    add(option, "")
                    continue
                }
                return add(option, try letters.isEmpty ? next("-\(letter)") : String(letters))
            }
            guard let option = SettingsTable.option(lettered: letter) else { throw .unknownOption("-\(letter)") }
            let value = try letters.isEmpty ? next("-\(letter)") : String(letters)
            return settings.append(Invocation.Setting(name: option.name, value: value))
        }
    }

    /// Returns the text after `=`, or else the next argument.
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
        // A first word that names no command is the gallery to browse.
        let name = words.first.flatMap { InvocationTable.subcommand(named: $0) }?.name ?? ""
        let arguments = Array(words.dropFirst())
        if let other = given.first(where: { !$0.option.belongs(to: name) }) {
            throw .misplacedOption("--" + other.option.name)
        }
        if has("list-only"), has("photos") { throw .conflict("--list-only", "--photos") }
        switch words.first {
        case "sync":
            if has("all"), let extra = arguments.first { throw .unexpectedArgument(extra) }
            let scope: Invocation.SyncScope = has("list-only") ? .list : has("photos") ? .photos : .thumbnails
            return .sync(scope, arguments, albums: has("albums"))
        case "list":
            if has("albums"), has("matching") { throw .conflict("--albums", "--matching") }
            return .list(
                json: has("json"), albums: has("albums"), matching: value(of: "matching"),
                try only(arguments, "gallery"))
        case "show":
            guard !arguments.isEmpty else { throw .missingArgument("file") }
            return .show(size: try value(of: "size").map(Self.size), arguments)
        case "info":
            guard !arguments.isEmpty else { throw .missingArgument("file or GALLERY#ID") }
            return .info(json: has("json"), arguments)
        case "publish":
            guard let folder = arguments.first else { throw .missingArgument("folder") }
            if arguments.count > 2 { throw .unexpectedArgument(arguments[2]) }
            return .publish(folder, to: arguments.dropFirst().first)
        case "export" where has("unattended"):
            if has("matching") { throw .conflict("--unattended", "--matching") }
            if let extra = arguments.first { throw .unexpectedArgument(extra) }
            return .exportUnattended
        case "export":
            guard let gallery = arguments.first else { throw .missingArgument("gallery") }
            guard arguments.count > 1 else { throw .missingArgument("folder") }
            return .export(
                gallery, folder: arguments[1], ids: Array(arguments.dropFirst(2)), matching: value(of: "matching"))
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
        return .cache(action, .gallery(try only(rest, "gallery or --all")))
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

    private func only(_ arguments: [String], _ name: String) throws(SettingsError) -> String {
        guard let first = arguments.first else { throw .missingArgument(name) }
        guard arguments.count == 1 else { throw .unexpectedArgument(arguments[1]) }
        return first
    }
}

extension Invocation {
    /// Parses the arguments of a command line, which do not include the program's name.
    public init(_ arguments: some Sequence<String>) throws(SettingsError) {
        var parser = InvocationParser(arguments)
        self = try parser.parse()
    }
}
