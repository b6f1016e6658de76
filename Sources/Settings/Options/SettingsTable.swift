import Commands

/// All options. The command line, the settings file, the help and the manual are made from this table.
public enum SettingsTable {
    /// In the order in which the help lists them.
    public static let options: [SettingsOption] = [
        .path("cache-dir", letter: "c", "DIR", "keep caches here", \.cacheFolder),
        .size("cache-limit", "room for all caches, like 2G or 500M; none: as much as they like", \.cacheLimit),
        .choice("log-level", letter: "l", "how much goes into the log", \.logLevel),
        .path("log-file", letter: "d", "FILE", "write the log to this file too", \.logFile),
        .flag("offline", "fetch nothing; show what is there") { set(&$0.offline, $1) },
        .flag("ascii", "draw with ASCII alone") { set(&$0.ascii, $1) },
        .choice("symbols", "characters that pictures are drawn with", \.symbols),
        .choice("colors", "colours that are used", \.colours),
        .choice("pixels", "how pictures are sent to terminals that take pixels", \.pixels),
        .choice("transparency", "what is seen through transparent parts of pictures", \.transparency),
        .choice("theme", "colours that can be read on a dark or a light background; auto: on what there is", \.theme),
        .flag("plain", "words in place of pictures, rules and bars, for screen readers") { set(&$0.plain, $1) },
        .flag("sync-on-open", "update a gallery when it is opened") { set(&$0.syncOnOpen, $1) },
        .flag("sync-on-focus", "update when the window comes to the front") { set(&$0.syncOnFocus, $1) },
        .number("sync-interval", "MINUTES", 0...10_080, "update every so many minutes; 0: never", \.syncInterval),
        .flag("all-thumbnails", "fetch every thumbnail, not only those near the screen") {
            set(&$0.allThumbnails, $1)
        },
        .flag("all-photos", "fetch every photo too, after everything else") { set(&$0.allPhotos, $1) },
        .number(
            "transfers", "NUMBER", 1...64, orAuto: true, "transfers at once; auto: as the network takes them",
            \.transfers),
        .path("ca-file", letter: nil, "FILE", "trust these certificates in place of the system’s", \.caFile),
        .path(
            "client-certificate", letter: nil, "FILE", "show this certificate to servers that want one",
            \.clientCertificate),
        .path(
            "client-key", letter: nil, "FILE", "its key, if that is in another file; not an encrypted one", \.clientKey),
        .path(
            "client-certificate-host", letter: nil, "HOST", "show the certificate to this host alone",
            \.clientCertificateHost),
        .path("netrc", letter: nil, "FILE", "look for users and passwords here; default: ~/.netrc", \.netrc),
        .choice("passwords", "where a password that is asked for is kept, unless you say otherwise", \.passwords),
        .choice("sort", "what photos are sorted by at first", \.order.criterion),
        .flag("sort-reversed", "the other way round: the newest, the largest first") { settings, new in
            if let new { settings.order.ascending = !new }
            return !settings.order.ascending
        },
        .choice("sections", "how photos sorted by date are divided at first", \.sections),
        .number("row-height", "ROWS", 0...20, "rows for each photo in a list; 0: as suits the screen", \.rowHeight),
        .number("slideshow", "SECONDS", 1...3_600, "seconds for each photo of a slideshow", \.slideshow),
        .flag("slideshow-shuffle", "show the photos of a slideshow in no order") { set(&$0.slideshowShuffled, $1) },
        .path(
            "open-with", letter: nil, "PROGRAM", "open photos with this program; default: $BROWSER or xdg-open",
            \.openWith),
        .path(
            "export-folder", letter: nil, "DIR", "propose this folder to save photos to", \.exportFolder),
        .flag("mouse", "follow the mouse; text is then selected with Shift") { set(&$0.mouse, $1) },
        .number("debug-delay", "MILLISECONDS", 0...600_000, "begin each transfer that much later", \.debugDelay),
        .number("debug-failures", "N", 0...1_000_000, "let every Nth request fail; 0: none", \.debugFailures),
    ]

    static func option(named name: String) -> SettingsOption? {
        options.first { $0.name == name }
    }

    static func option(lettered letter: Character) -> SettingsOption? {
        options.first { $0.letter == letter }
    }

    /// The option that was probably meant by a name that none has; with its dashes, where the command line was read.
    static func nearest(to name: String) -> String? {
        guard name.hasPrefix("--") else { return Misspelling.nearest(to: name, among: options.map(\.name)) }
        // In a file there are no dashes.
        if let option = option(named: String(name.dropFirst(2))) { return option.name }
        return Misspelling.nearest(to: String(name.dropFirst(2)), among: InvocationTable.everyOption.map(\.name)).map {
            "--" + $0
        }
    }

    /// Sets a switch, or only says how it stands.
    private static func set(_ value: inout Bool, _ new: Bool?) -> Bool {
        if let new { value = new }
        return value
    }
}

/// One thing that can be set, in the settings file and on the command line: the one place that knows its name, its
/// values, its default and its meaning.
public struct SettingsOption: Sendable {
    /// As it stands in the settings file, and behind `--`.
    public let name: String
    /// The short form on the command line.
    public let letter: Character?
    /// What its value is called in the help; nil for a switch that is on by being named.
    public let value: String?
    /// What it does.
    public let meaning: String
    let apply: @Sendable (inout Settings, String) throws(SettingsError) -> Void
    let current: @Sendable (Settings) -> String

    /// Sets it from text.
    ///
    /// - Parameter settings: what it is set in.
    func set(_ text: String, in settings: inout Settings) throws(SettingsError) {
        try apply(&settings, text)
    }

    /// What holds where it is not set.
    public var defaultValue: String { current(Settings()) }

    /// What is set, as it stands in a file.
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

    /// - Parameter isAutoAllowed: whether `auto` is a value too, which is kept as 0.
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

    /// An amount of data, or `none`.
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

/// An amount of data as it is written in settings: `2G`, `500M`, `none`.
struct DataSize: Equatable {
    /// Bytes; nil for no bound at all.
    let bytes: Int64?

    /// What may be written, for the sentence that says so.
    static let allowed = "a size, like 2G or 500M, or none"

    private static let units: [(letter: Character, bytes: Int64)] = [
        ("T", 1 << 40), ("G", 1 << 30), ("M", 1 << 20), ("K", 1 << 10),
    ]

    init(bytes: Int64?) {
        self.bytes = bytes
    }

    /// Reads a whole number with a unit behind it, or with none for bytes; a thousand and twenty-four of one are the next.
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

    /// As it is read again, in the largest unit that it is a whole number of.
    var text: String {
        guard let bytes else { return "none" }
        let unit = Self.units.first { bytes > 0 && bytes % $0.bytes == 0 }
        return unit.map { "\(bytes / $0.bytes)\($0.letter)" } ?? "\(bytes)"
    }
}
