/// The interval between automatic updates of a gallery.
///
///     SyncInterval("30m")      // every half hour
///     SyncInterval("never")
public struct SyncInterval: Hashable, Sendable, CustomStringConvertible {
    /// The minutes between two updates; 0 for no automatic updates.
    public let minutes: Int

    /// The allowed numbers of minutes, up to a week, as for the setting `sync-interval`.
    static let range = 1...10_080
    /// The allowed values, as error messages describe them.
    static let allowed = "a time like 30m, 2h or 1d (at most 7d), or never"

    /// Creates an interval from minutes, with 0 for never. Returns nil if the minutes are out of range.
    public init?(minutes: Int) {
        guard minutes == 0 || Self.range.contains(minutes) else { return nil }
        self.minutes = minutes
    }

    /// Parses `30m`, `2h`, `1d`, `never` or a number of minutes, optionally after `every`.
    public init?(_ text: String) {
        var text = text.trimmed.lowercased()
        if text.hasPrefix("every"), text.dropFirst(5).first?.isWhitespace == true { text = text.dropFirst(5).trimmed }
        guard text != "never" else {
            self = .never
            return
        }
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        let units = ["": 1, "m": 1, "h": 60, "d": 1_440]
        guard digits.count <= 5, let number = Int(digits), let unit = units[text.dropFirst(digits.count).trimmed],
            Self.range.contains(number * unit)
        else { return nil }
        minutes = number * unit
    }

    private init(unchecked minutes: Int) {
        self.minutes = minutes
    }

    /// The interval for a gallery without automatic updates.
    public static let never = SyncInterval(unchecked: 0)

    /// The interval as text for the file of galleries: `every 30m`, `never`.
    public var description: String { minutes == 0 ? "never" : "every \(shortText)" }

    /// The interval as the user types it: `30m`, `2h`, `never`.
    public var shortText: String {
        if minutes == 0 { return "never" }
        if minutes % 1_440 == 0 { return "\(minutes / 1_440)d" }
        return minutes % 60 == 0 ? "\(minutes / 60)h" : "\(minutes)m"
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

/// The amount of logging: a level for all parts, and other levels for some parts.
///
///     LogLevels("info,network=debug,xml=off")
public struct LogLevels: Hashable, Sendable {
    /// The parts of Vitrine that write to the log.
    public enum Part: String, CaseIterable, Hashable, Sendable {
        case network
        case networkDetail = "network-detail"
        case sync, xml, cache, screen
    }

    /// The level of all parts without a level of their own.
    public var general: Settings.LogLevel
    /// The parts with levels of their own. The value nil means that the part is off.
    public var parts: [Part: Settings.LogLevel?] = [:]

    /// The allowed values, as error messages describe them.
    static let allowed =
        "one of " + Settings.LogLevel.allCases.map(\.rawValue).joined(separator: ", ")
        + ", optionally with another level for one part, as in info,network=debug"
    /// The word that turns a part off.
    private static let off = "off"

    /// Creates the levels of a log whose parts all have the same level.
    public init(_ general: Settings.LogLevel = .info) { self.general = general }

    /// Parses a general level and levels of parts, separated by commas.
    public init?(_ text: String) {
        let words = text.split(separator: ",", omittingEmptySubsequences: false).map(\.trimmed)
        guard let general = Settings.LogLevel(rawValue: words[0]) else { return nil }
        self.general = general
        for word in words.dropFirst() {
            let sides = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(\.trimmed)
            guard sides.count == 2, let part = Part(rawValue: sides[0]) else { return nil }
            let level = Settings.LogLevel(rawValue: sides[1])
            guard level != nil || sides[1] == Self.off else { return nil }
            parts[part] = .some(level)
        }
    }

    /// The levels as text, with the parts in the order of the log screen.
    public var text: String {
        let own = Part.allCases.compactMap { part in
            parts[part].map { "\(part.rawValue)=\($0?.rawValue ?? Self.off)" }
        }
        return ([general.rawValue] + own).joined(separator: ",")
    }

    /// Returns the values that begin with a text, for completion. After a comma, the call completes parts and their
    /// levels.
    static func completions(of text: String) -> [String] {
        let levels = Settings.LogLevel.allCases.map(\.rawValue)
        guard let comma = text.lastIndex(of: ",") else {
            return levels.filter { $0.hasPrefix(text) }
        }
        let (before, word) = (text[...comma], text[text.index(after: comma)...])
        let words =
            word.contains("=")
            ? (levels + [off]).map { word.prefix { $0 != "=" } + "=" + $0 }
            : Part.allCases.map { $0.rawValue + "=" }
        return words.filter { $0.hasPrefix(word) }.map { before + $0 }
    }
}
