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
    static let allowed = "30m, 2h or 1d, at most 7d, or never"

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
