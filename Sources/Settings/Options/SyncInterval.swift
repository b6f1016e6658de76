/// How often a gallery is updated by itself.
///
///     SyncInterval("30m")      // every half hour
///     SyncInterval("never")
public struct SyncInterval: Hashable, Sendable, CustomStringConvertible {
    /// Minutes between two updates; 0 for never.
    public let minutes: Int

    /// As many as the setting of the same name may have: a week.
    static let range = 1...10_080
    /// What may be written, for whoever wrote something else.
    static let allowed = "like 30m, 2h or 1d, at most 7d, or never"

    /// That many minutes, 0 for never; nil if they are too many.
    public init?(minutes: Int) {
        guard minutes == 0 || Self.range.contains(minutes) else { return nil }
        self.minutes = minutes
    }

    /// Reads `30m`, `2h`, `1d`, `never`, or a plain number of minutes. A word `every` before it is passed over.
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

    /// Only when the user asks for it.
    public static let never = SyncInterval(unchecked: 0)

    /// As it is written in the file of galleries: `every 30m`, `never`.
    public var description: String { minutes == 0 ? "never" : "every \(shortText)" }

    /// As it is typed: `30m`, `2h`, `never`.
    public var shortText: String {
        if minutes == 0 { return "never" }
        if minutes % 1_440 == 0 { return "\(minutes / 1_440)d" }
        return minutes % 60 == 0 ? "\(minutes / 60)h" : "\(minutes)m"
    }
}
