import Commands

/// The table of all settings. Other code derives options, help and completions from this table.
///
/// The command line, the settings file, the help, the manual page and the completions use this table.
public enum SettingsTable {
    /// All settings, in the order of the help.
    public static let options: [SettingsOption] = [
        .path("cache-dir", letter: "c", "DIR", "folder for caches", \.cacheFolder),
        .size("cache-limit", "maximum size of all caches, like 2G or 500M, or none", \.cacheLimit),
        .choice("log-level", letter: "l", "amount of logging", \.logLevel),
        .path("log-file", letter: "d", "FILE", "also write the log to this file", \.logFile),
        .flag("offline", "fetch nothing; show only cached photos") { set(&$0.offline, $1) },
        .flag("ascii", "draw with ASCII only") { set(&$0.ascii, $1) },
        .choice("symbols", "characters for pictures", \.symbols),
        .choice("colors", "number of colours to use", \.colours),
        .choice("pixels", "pixel protocol for pictures; none: use characters", \.pixels),
        .choice("transparency", "background of transparent pictures", \.transparency),
        .choice("theme", "interface colours; auto: match the background", \.theme),
        .flag("plain", "for screen readers: show words instead of pictures and bars") { set(&$0.plain, $1) },
        .flag("sync-on-open", "update a gallery when it opens") { set(&$0.syncOnOpen, $1) },
        .flag("sync-on-focus", "update the gallery when the window gets the focus") { set(&$0.syncOnFocus, $1) },
        .number(
            "sync-interval", "MINUTES", 0...10_080, "minutes between updates of the open gallery; 0: never",
            \.syncInterval),
        .flag("all-thumbnails", "fetch every thumbnail, not only those near the screen") {
            set(&$0.allThumbnails, $1)
        },
        .flag("all-photos", "fetch every photo, after everything else") { set(&$0.allPhotos, $1) },
        .number(
            "transfers", "NUMBER", 1...64, orAuto: true, "number of simultaneous transfers; auto: adapt to the network",
            \.transfers),
        .path("ca-file", letter: nil, "FILE", "trust these certificates instead of the system’s", \.caFile),
        .path(
            "client-certificate", letter: nil, "FILE", "certificate for servers that require one",
            \.clientCertificate),
        .path(
            "client-key", letter: nil, "FILE", "unencrypted key of the certificate, if in another file", \.clientKey),
        .path(
            "client-certificate-host", letter: nil, "HOST", "use the certificate for this host only",
            \.clientCertificateHost),
        .path("netrc", letter: nil, "FILE", "file with users and passwords; default: ~/.netrc", \.netrc),
        .choice("passwords", "default place to keep passwords", \.passwords),
        .choice("sort", "initial order of photos", \.order.criterion),
        .flag("sort-reversed", "reverse the order: newest or largest first") { settings, new in
            if let new { settings.order.ascending = !new }
            return !settings.order.ascending
        },
        .choice("sections", "initial sections of a list", \.sections),
        .number("row-height", "ROWS", 0...20, "rows for each photo in a list; 0: automatic", \.rowHeight),
        .number("slideshow", "SECONDS", 1...3_600, "seconds for each photo of a slideshow", \.slideshow),
        .flag("slideshow-shuffle", "show slideshows in random order") { set(&$0.slideshowShuffled, $1) },
        .path(
            "open-with", letter: nil, "PROGRAM", "open photos with this program; default: $BROWSER or xdg-open",
            \.openWith),
        .path(
            "export-folder", letter: nil, "DIR", "folder to suggest for saving photos", \.exportFolder),
        .flag("mouse", "use the mouse; select text with Shift") { set(&$0.mouse, $1) },
        .number(
            "debug-delay", "MILLISECONDS", 0...600_000, "milliseconds to delay each transfer, for tests", \.debugDelay),
        .number(
            "debug-failures", "N", 0...1_000_000, "let every Nth request fail, for tests; 0: none", \.debugFailures),
    ]

    static func option(named name: String) -> SettingsOption? {
        options.first { $0.name == name }
    }

    static func option(lettered letter: Character) -> SettingsOption? {
        options.first { $0.letter == letter }
    }

    /// Returns the known name closest to a misspelled name. A name with dashes gets an answer with dashes.
    static func nearest(to name: String) -> String? {
        guard name.hasPrefix("--") else { return Misspelling.nearest(to: name, among: options.map(\.name)) }
        // Dashes before a correct name come from the settings file, which uses none.
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
    /// The setting's name in the settings file. On the command line, `--` precedes the name.
    public let name: String
    /// The letter of the short form on the command line.
    public let letter: Character?
    /// The placeholder for the value in the help; nil for a switch.
    public let value: String?
    /// The description in the help.
    public let meaning: String
    let apply: @Sendable (inout Settings, String) throws(SettingsError) -> Void
    let current: @Sendable (Settings) -> String

    /// Sets the setting's value from text.
    func set(_ text: String, in settings: inout Settings) throws(SettingsError) {
        try apply(&settings, text)
    }

    /// The default value, as text.
    public var defaultValue: String { current(Settings()) }

    /// Returns the setting's value as text for the settings file.
    public func text(in settings: Settings) -> String { current(settings) }

    // MARK: - Kinds

    static func flag(
        _ name: String, letter: Character? = nil, _ meaning: String,
        _ path: @escaping @Sendable (inout Settings, Bool?) -> Bool
    ) -> SettingsOption {
        SettingsOption(
            name: name, letter: letter, value: nil, meaning: meaning,
            apply: { settings, text throws(SettingsError) in
                switch text {
                case "yes": _ = path(&settings, true)
                case "no": _ = path(&settings, false)
                default: throw .value(text, of: name, allowed: "yes or no")
                }
            },
            current: { settings in
                var settings = settings
                return path(&settings, nil) ? "yes" : "no"
            })
    }

    static func choice<Value: RawRepresentable & CaseIterable & Sendable>(
        _ name: String, letter: Character? = nil, _ meaning: String, _ path: WritableKeyPath<Settings, Value> & Sendable
    ) -> SettingsOption where Value.RawValue == String {
        let names = Value.allCases.map(\.rawValue)
        return SettingsOption(
            name: name, letter: letter, value: names.joined(separator: "|"), meaning: meaning,
            apply: { settings, text throws(SettingsError) in
                guard let value = Value(rawValue: text) else {
                    throw .value(text, of: name, allowed: "one of " + names.joined(separator: ", "))
                }
                settings[keyPath: path] = value
            },
            current: { $0[keyPath: path].rawValue })
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
        return SettingsOption(
            name: name, letter: nil, value: isAutoAllowed ? "auto|" + value : value, meaning: meaning,
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
            })
    }

    /// Creates a setting whose value is a data size or `none`.
    static func size(
        _ name: String, _ meaning: String, _ path: WritableKeyPath<Settings, Int64?> & Sendable
    ) -> SettingsOption {
        SettingsOption(
            name: name, letter: nil, value: "SIZE", meaning: meaning,
            apply: { settings, text throws(SettingsError) in
                guard let size = DataSize(text) else { throw .value(text, of: name, allowed: DataSize.allowed) }
                settings[keyPath: path] = size.bytes
            },
            current: { DataSize(bytes: $0[keyPath: path]).text })
    }

    static func path(
        _ name: String, letter: Character?, _ value: String, _ meaning: String,
        _ path: WritableKeyPath<Settings, String?> & Sendable
    ) -> SettingsOption {
        SettingsOption(
            name: name, letter: letter, value: value, meaning: meaning,
            apply: { settings, text throws(SettingsError) in
                guard !text.isEmpty else { throw .missingValue(name) }
                settings[keyPath: path] = text
            },
            current: { $0[keyPath: path] ?? "" })
    }
}

/// A data size in a settings file, such as `2G`, `500M` or `none`.
struct DataSize: Equatable {
    /// The number of bytes; nil for no limit.
    let bytes: Int64?

    /// The allowed values, as error messages describe them.
    static let allowed = "a size, like 2G or 500M, or none"

    private static let units: [(letter: Character, bytes: Int64)] = [
        ("T", 1 << 40), ("G", 1 << 30), ("M", 1 << 20), ("K", 1 << 10),
    ]

    init(bytes: Int64?) {
        self.bytes = bytes
    }

    /// Parses a whole number of bytes with an optional unit. Units are powers of 1,024.
    init?(_ text: String) {
        guard text != "none" else {
            bytes = nil
            return
        }
        let unit = Self.units.first { text.hasSuffix(String($0.letter)) || text.hasSuffix($0.letter.lowercased()) }
        let digits = unit == nil ? text[...] : text.dropLast()
        guard !digits.isEmpty, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int64(digits) else {
            return nil
        }
        let (bytes, overflows) = number.multipliedReportingOverflow(by: unit?.bytes ?? 1)
        guard !overflows else { return nil }
        self.bytes = bytes
    }

    /// The size in the largest unit that gives a whole number.
    var text: String {
        guard let bytes else { return "none" }
        let unit = Self.units.first { bytes > 0 && bytes % $0.bytes == 0 }
        return unit.map { "\(bytes / $0.bytes)\($0.letter)" } ?? "\(bytes)"
    }
}
