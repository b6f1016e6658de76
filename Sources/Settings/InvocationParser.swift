/// Reads a command line: options and words in any order, up to `--`, behind which all are words.
struct InvocationParser {
    private var rest: ArraySlice<String>
    private var words: [String] = []
    private var settings: [Invocation.Setting] = []
    private var settingsFile: String?
    private var isHelpWanted = false
    private var isVersionWanted = false
    private var clearsSetup = false
    private var clearsCache = false
    private var isJSON = false
    private var scope = Invocation.SyncScope.thumbnails
    private var isAll = false
    private var isVerbose = false
    private var size: Invocation.ShowSize?
    /// Options that were named and belong to certain commands.
    private var commandOptions: [String] = []

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
        let command = isHelpWanted ? .help : isVersionWanted ? version : try command()
        return Invocation(
            command: command, settingsFile: settingsFile, settings: settings, clearsSetup: clearsSetup,
            clearsCache: clearsCache)
    }

    /// `--name`, `--name=value`, `--name value`.
    private mutating func parseLong(_ argument: Substring) throws(SettingsError) {
        let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        let (name, value) = (parts[0], parts.count > 1 ? parts[1] : nil)
        if try parseCommandOption(name, value) { return }
        guard let option = SettingsTable.option(named: name) else { throw .unknownOption("--" + name) }
        if option.value == nil {
            settings.append(Invocation.Setting(name: name, value: value ?? "yes"))
        } else {
            settings.append(Invocation.Setting(name: name, value: try self.value(value, of: "--" + name)))
        }
    }

    /// `-o value`, `-ovalue`, and switches together.
    private mutating func parseShort(_ argument: Substring) throws(SettingsError) {
        var letters = argument
        while let letter = letters.popFirst() {
            switch letter {
            case "h": isHelpWanted = true
            case "V": isVersionWanted = true
            case "C":
                settingsFile = try letters.isEmpty ? next("-C") : String(letters)
                return
            default:
                guard let option = SettingsTable.option(lettered: letter) else { throw .unknownOption("-\(letter)") }
                let value = try letters.isEmpty ? next("-\(letter)") : String(letters)
                settings.append(Invocation.Setting(name: option.name, value: value))
                return
            }
        }
    }

    /// Options that are no settings. Returns whether it was one.
    private mutating func parseCommandOption(_ name: String, _ value: String?) throws(SettingsError) -> Bool {
        switch name {
        case "config": settingsFile = try self.value(value, of: "--config")
        case "size":
            size = try Self.size(try self.value(value, of: "--size"))
            commandOptions.append(name)
        case "no-color": settings.append(Invocation.Setting(name: "colors", value: "none"))
        default:
            let wasSwitch = setSwitch(name)
            if wasSwitch, value != nil { throw .unexpectedValue("--" + name) }
            return wasSwitch
        }
        return true
    }

    private mutating func setSwitch(_ name: String) -> Bool {
        switch name {
        case "help":
            isHelpWanted = true
            return true
        case "version":
            isVersionWanted = true
            return true
        case "clear-setup":
            clearsSetup = true
            return true
        case "clear-cache":
            clearsCache = true
            return true
        case "json": isJSON = true
        case "list-only": scope = .list
        case "photos": scope = .photos
        case "all": isAll = true
        case "verbose": isVerbose = true
        default: return false
        }
        commandOptions.append(name)
        return true
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

    private var version: Invocation.Command { .version(isVerbose: isVerbose) }

    /// Options that mean something to one command, or to some.
    private static let options: [String: Set<String>] = [
        "sync": ["list-only", "photos", "all"], "list": ["json"], "show": ["size"], "info": ["json"],
        "cache": ["all", "photos"],
    ]

    private func command() throws(SettingsError) -> Invocation.Command {
        let arguments = Array(words.dropFirst())
        let known = Self.options[words.first ?? ""] ?? []
        if let other = commandOptions.first(where: { !known.contains($0) }) { throw .misplacedOption("--" + other) }
        if Set(commandOptions).isSuperset(of: ["list-only", "photos"]) {
            throw .conflict("--list-only", "--photos")
        }
        switch words.first {
        case "sync":
            if isAll, let extra = arguments.first { throw .unexpectedArgument(extra) }
            return .sync(scope, arguments)
        case "list": return .list(json: isJSON, try only(arguments, "The gallery"))
        case "show":
            guard !arguments.isEmpty else { throw .missingArgument("The file") }
            return .show(size: size, arguments)
        case "info":
            guard !arguments.isEmpty else { throw .missingArgument("The file, or GALLERY#ID,") }
            return .info(json: isJSON, arguments)
        case "publish": return .publish(try only(arguments, "The folder"))
        case "export":
            guard let gallery = arguments.first else { throw .missingArgument("The gallery") }
            guard arguments.count > 1 else { throw .missingArgument("The folder") }
            return .export(gallery, folder: arguments[1], ids: Array(arguments.dropFirst(2)))
        case "cache": return try cacheCommand(arguments)
        default:
            if words.count > 1 { throw .unexpectedArgument(words[1]) }
            return .browse(words.first)
        }
    }

    private func cacheCommand(_ arguments: [String]) throws(SettingsError) -> Invocation.Command {
        guard let name = arguments.first else { throw .missingArgument("“info”, “clear” or “check”") }
        guard var action = Invocation.CacheAction(rawValue: name) else { throw .unknownCommand("cache \(name)") }
        if commandOptions.contains("photos") {
            guard action == .clear else { throw .misplacedOption("--photos") }
            action = .clearPhotos
        }
        let rest = Array(arguments.dropFirst())
        if isAll || (rest.isEmpty && (action == .info || action == .check)) {
            if let extra = rest.first { throw .unexpectedArgument(extra) }
            return .cache(action, .all)
        }
        return .cache(action, .gallery(try only(rest, "The gallery, or --all,")))
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
