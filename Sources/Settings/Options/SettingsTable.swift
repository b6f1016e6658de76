import Commands

/// The table of all settings.
///
/// The command line, the settings file, the help, the manual page and the completions use this table.
public enum SettingsTable {
    /// All settings, in the order of the help.
    public static let options: [SettingsOption] = [
        .path("cache-dir", letter: "c", "DIR", "folder for caches", \.cacheFolder)
            .holding(.atNextStart("the cache folder is already open")),
        .size("cache-limit", "maximum size of all caches, like 2G or 500M, or none", \.cacheLimit),
        .levels("log-level", letter: "l", "how much to log, like info or info,network=debug", \.logLevels),
        .path("log-file", letter: "d", "FILE", "also write the log to this file; -: to standard error", \.logFile)
            .namingFile(),
        .host(
            "log-exchanges", "log HTTP headers for one host, without secrets",
            \.logExchanges),
        .flag("offline", "use no network; show cached photos and local folders") { set(&$0.offline, $1) },
        .flag("require-sandbox", "fetch and decode nothing without a complete sandbox") {
            set(&$0.requireSandbox, $1)
        },
        .flag("ascii", "draw with ASCII only") { set(&$0.ascii, $1) },
        .choice("symbols", "characters to draw pictures with", \.symbols),
        .choice("colors", "number of colours to use", \.colours),
        .choice("pixels", "pixel protocol for pictures; none: use characters", \.pixels),
        .choice("transparency", "background of transparent pictures", \.transparency),
        .choice("theme", "interface colours; auto: match the terminal’s background", \.theme),
        .flag("plain", "for screen readers: show words instead of pictures and bars") { set(&$0.plain, $1) },
        .flag("sync-on-open", "update a gallery when you open it") { set(&$0.syncOnOpen, $1) },
        .flag("sync-on-focus", "update the open gallery when the window gets the focus") { set(&$0.syncOnFocus, $1) },
        .number(
            "sync-interval", "MINUTES", 0...10_080, "minutes between updates of the open gallery; 0: never",
            \.syncInterval),
        .flag("all-thumbnails", "fetch every thumbnail, not only those near the screen") {
            set(&$0.allThumbnails, $1)
        },
        .flag("all-photos", "fetch every photo but no video, after everything else") { set(&$0.allPhotos, $1) },
        .number(
            "transfers", "NUMBER", 1...64, orAuto: true, "number of simultaneous transfers; auto: adapt to the network",
            \.transfers),
        .path("ca-file", letter: nil, "FILE", "file with certificates to trust instead of the system’s", \.caFile)
            .namingFile(),
        .path(
            "client-certificate", letter: nil, "FILE", "client certificate for servers that require one",
            \.clientCertificate
        ).namingFile(),
        .path(
            "client-key", letter: nil, "FILE", "unencrypted key of the client certificate, if in another file",
            \.clientKey
        ).namingFile(),
        .path(
            "client-certificate-host", letter: nil, "HOST", "use the client certificate for one host only",
            \.clientCertificateHost),
        .path("netrc", letter: nil, "FILE", "file with users and passwords; default: ~/.netrc", \.netrc)
            .namingFile(),
        .choice("passwords", "default place to keep passwords", \.passwords),
        .choice("sort", "initial order of photos", \.order.criterion)
            .holding(.fromNowOn("galleries that you open from now on")),
        .flag("sort-reversed", "reverse the order: newest or largest first") { settings, new in
            if let new { settings.order.ascending = !new }
            return !settings.order.ascending
        }
        .holding(.fromNowOn("galleries that you open from now on")),
        .choice("sections", "initial sections of the list of photos", \.sections)
            .holding(.fromNowOn("galleries that you open from now on")),
        .number("row-height", "ROWS", 0...20, "rows for each photo in a list; 0: automatic", \.rowHeight),
        .number("slideshow", "SECONDS", 1...3_600, "seconds for each photo of a slideshow", \.slideshow),
        .flag("slideshow-shuffle", "show the photos of slideshows in random order") { set(&$0.slideshowShuffled, $1) },
        .path(
            "open-with", letter: nil, "PROGRAM", "program to open photos with; default: $BROWSER or xdg-open",
            \.openWith),
        .path(
            "export-folder", letter: nil, "DIR", "folder to suggest for saving photos", \.exportFolder),
        .flag("mouse", "use the mouse; hold Shift to select text") { set(&$0.mouse, $1) },
        .number(
            "debug-delay", "MILLISECONDS", 0...600_000, "milliseconds to delay each transfer, for tests", \.debugDelay),
        .number(
            "debug-failures", "N", 0...1_000_000, "let every Nth request fail, for tests; 0: none", \.debugFailures),
    ]

    /// Returns the setting with this name, or nil if there is none.
    public static func option(named name: String) -> SettingsOption? {
        options.first { $0.name == name }
    }

    static func option(lettered letter: Character) -> SettingsOption? {
        options.first { $0.letter == letter }
    }

    /// Returns the known name closest to a misspelled name. If the misspelled name begins with dashes, the answer does,
    /// too.
    static func nearest(to name: String) -> String? {
        guard name.hasPrefix("--") else { return Misspelling.nearest(to: name, among: options.map(\.name)) }
        // If only the dashes are wrong, the name comes from the settings file, where names have no dashes.
        if let option = option(named: String(name.dropFirst(2))) { return option.name }
        return Misspelling.nearest(to: String(name.dropFirst(2)), among: InvocationTable.everyOption.map(\.name)).map {
            "--" + $0
        }
    }

    /// Sets a switch if there is a new value. Returns the switch's value.
    private static func set(_ value: inout Bool, _ new: Bool?) -> Bool {
        if let new { value = new }
        return value
    }
}

/// A setting with its name, values, default and description.
public struct SettingsOption: Sendable {
    /// The time when a changed value takes effect.
    public enum Effect: Hashable, Sendable {
        /// The value takes effect at once.
        case atOnce
        /// The value takes effect only for later actions, which the text describes.
        case fromNowOn(String)
        /// The value takes effect only at the next start; the text gives the reason.
        case atNextStart(String)
    }

    /// The setting's name in the settings file. On the command line, `--` precedes the name.
    public let name: String
    /// The letter of the short form on the command line.
    public let letter: Character?
    /// The placeholder for the value in the help; nil for a switch.
    public let value: String?
    /// The description in the help.
    public let meaning: String
    /// The words that the user can choose from; empty for other values.
    public let choices: [String]
    /// The time when a changed value takes effect.
    public private(set) var effect = Effect.atOnce
    /// Whether the value is the path of a file. Vitrine reads the file before accepting the value, which may take long.
    public private(set) var namesFile = false
    private let apply: @Sendable (inout Settings, String) throws(SettingsError) -> Void
    private let current: @Sendable (Settings) -> String
    /// Copies the setting's value from other settings.
    private let copy: @Sendable (_ from: Settings, _ to: inout Settings) -> Void
    private var complete: @Sendable (String) -> [String]

    private init(
        _ name: String, _ letter: Character?, _ value: String?, _ meaning: String, choices: [String] = [],
        apply: @escaping @Sendable (inout Settings, String) throws(SettingsError) -> Void,
        current: @escaping @Sendable (Settings) -> String,
        copy: @escaping @Sendable (_ from: Settings, _ to: inout Settings) -> Void
    ) {
        (self.name, self.letter, self.value, self.meaning) = (name, letter, value, meaning)
        (self.choices, self.apply, self.current, self.copy) = (choices, apply, current, copy)
        complete = { text in choices.filter { $0.hasPrefix(text) } }
    }

    /// Returns a copy of the option whose changes take effect at the given time.
    func holding(_ effect: Effect) -> SettingsOption {
        var option = self
        option.effect = effect
        return option
    }

    /// Returns a copy of the option whose value is the path of a file. See ``namesFile``.
    func namingFile() -> SettingsOption {
        var option = self
        option.namesFile = true
        return option
    }

    /// Sets the setting's value from text.
    func set(_ text: String, in settings: inout Settings) throws(SettingsError) {
        try apply(&settings, text)
    }

    /// Sets the setting to its default value.
    func reset(in settings: inout Settings) { copy(Settings(), &settings) }

    /// Copies the setting's value from other settings.
    func take(from other: Settings, into settings: inout Settings) { copy(other, &settings) }

    /// The default value, as text.
    public var defaultValue: String { current(Settings()) }

    /// Returns the setting's value as text for the settings file.
    public func text(in settings: Settings) -> String { current(settings) }

    /// Returns the values that begin with a text.
    public func completions(of text: String) -> [String] { complete(text) }

    /// The sentence about the time when a change takes effect; nil if changes take effect at once.
    public var effectSentence: String? {
        switch effect {
        case .atOnce: nil
        case .fromNowOn(let things): "“\(name)” applies to \(things)."
        case .atNextStart(let reason): "“\(name)” takes effect at the next start, because \(reason)."
        }
    }

    // MARK: - Kinds

    static func flag(
        _ name: String, letter: Character? = nil, _ meaning: String,
        _ path: @escaping @Sendable (inout Settings, Bool?) -> Bool
    ) -> SettingsOption {
        let read: @Sendable (Settings) -> Bool = { settings in
            var settings = settings
            return path(&settings, nil)
        }
        return SettingsOption(
            name, letter, nil, meaning, choices: ["yes", "no"],
            apply: { settings, text throws(SettingsError) in
                switch text {
                case "yes": _ = path(&settings, true)
                case "no": _ = path(&settings, false)
                default: throw .value(text, of: name, allowed: "yes or no")
                }
            },
            current: { read($0) ? "yes" : "no" },
            copy: { other, settings in _ = path(&settings, read(other)) })
    }

    static func choice<Value: RawRepresentable & CaseIterable & Sendable>(
        _ name: String, letter: Character? = nil, _ meaning: String, _ path: WritableKeyPath<Settings, Value> & Sendable
    ) -> SettingsOption where Value.RawValue == String {
        let names = Value.allCases.map(\.rawValue)
        return SettingsOption(
            name, letter, names.joined(separator: "|"), meaning, choices: names,
            apply: { settings, text throws(SettingsError) in
                guard let value = Value(rawValue: text) else {
                    throw .value(text, of: name, allowed: "one of " + names.joined(separator: ", "))
                }
                settings[keyPath: path] = value
            },
            current: { $0[keyPath: path].rawValue }, copy: { $1[keyPath: path] = $0[keyPath: path] })
    }

    /// Creates a setting whose value is a number in a range.
    ///
    /// - Parameter isAutoAllowed: whether `auto` is allowed, stored as 0.
    static func number(
        _ name: String, _ value: String, _ range: ClosedRange<Int>, orAuto isAutoAllowed: Bool = false,
        _ meaning: String, _ path: WritableKeyPath<Settings, Int> & Sendable
    ) -> SettingsOption {
        let allowed =
            (isAutoAllowed ? "auto, or " : "") + "a number from \(range.lowerBound) to \(range.upperBound)"
        var option = SettingsOption(
            name, nil, isAutoAllowed ? "auto|" + value : value, meaning,
            apply: { settings, text throws(SettingsError) in
                if isAutoAllowed, text == "auto" {
                    settings[keyPath: path] = 0
                } else if let number = Int(text), range.contains(number) {
                    settings[keyPath: path] = number
                } else {
                    throw .value(text, of: name, allowed: allowed)
                }
            },
            current: { settings in
                let number = settings[keyPath: path]
                return isAutoAllowed && number == 0 ? "auto" : String(number)
            },
            copy: { $1[keyPath: path] = $0[keyPath: path] })
        if isAutoAllowed { option.complete = { "auto".hasPrefix($0) ? ["auto"] : [] } }
        return option
    }

    /// Creates a setting whose value is a data size or `none`.
    static func size(
        _ name: String, _ meaning: String, _ path: WritableKeyPath<Settings, Int64?> & Sendable
    ) -> SettingsOption {
        var option = SettingsOption(
            name, nil, "SIZE", meaning,
            apply: { settings, text throws(SettingsError) in
                guard let size = DataSize(text) else { throw .value(text, of: name, allowed: DataSize.allowed) }
                settings[keyPath: path] = size.bytes
            },
            current: { DataSize(bytes: $0[keyPath: path]).text }, copy: { $1[keyPath: path] = $0[keyPath: path] })
        option.complete = { "none".hasPrefix($0) ? ["none"] : [] }
        return option
    }

    /// Creates a setting for the log level, or for the levels of single subsystems.
    static func levels(
        _ name: String, letter: Character?, _ meaning: String, _ path: WritableKeyPath<Settings, LogLevels> & Sendable
    ) -> SettingsOption {
        let names = Settings.LogLevel.allCases.map(\.rawValue)
        var option = SettingsOption(
            name, letter, names.joined(separator: "|"), meaning, choices: names,
            apply: { settings, text throws(SettingsError) in
                guard let levels = LogLevels(text) else { throw .value(text, of: name, allowed: LogLevels.allowed) }
                settings[keyPath: path] = levels
            },
            current: { $0[keyPath: path].text }, copy: { $1[keyPath: path] = $0[keyPath: path] })
        option.complete = LogLevels.completions
        return option
    }

    /// Creates a setting whose value is the name or the address of a host.
    static func host(
        _ name: String, _ meaning: String, _ path: WritableKeyPath<Settings, String?> & Sendable
    ) -> SettingsOption {
        SettingsOption(
            name, nil, "HOST", meaning,
            apply: { settings, text throws(SettingsError) in
                // An address with a path or a user would match no host.
                guard !text.isEmpty, !text.contains(where: { $0.isWhitespace || "/@?#".contains($0) }) else {
                    throw .value(text, of: name, allowed: "a host, like example.org")
                }
                settings[keyPath: path] = text
            },
            current: { $0[keyPath: path] ?? "" }, copy: { $1[keyPath: path] = $0[keyPath: path] })
    }

    static func path(
        _ name: String, letter: Character?, _ value: String, _ meaning: String,
        _ path: WritableKeyPath<Settings, String?> & Sendable
    ) -> SettingsOption {
        SettingsOption(
            name, letter, value, meaning,
            apply: { settings, text throws(SettingsError) in
                guard !text.isEmpty else { throw .missingValue(name) }
                settings[keyPath: path] = text
            },
            current: { $0[keyPath: path] ?? "" }, copy: { $1[keyPath: path] = $0[keyPath: path] })
    }
}
