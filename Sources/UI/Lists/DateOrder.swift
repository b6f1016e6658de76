import Glibc

/// The order in which a locale writes the parts of a date, and whether its clock has 12 hours.
struct DateOrder: Equatable {
    enum First { case day, month, year }

    let first: First
    let isTwelveHours: Bool

    /// The order without a locale: the day first, and a clock with 24 hours.
    static let none = DateOrder(first: .day, isTwelveHours: false)

    init(first: First, isTwelveHours: Bool) {
        self.first = first
        self.isTwelveHours = isTwelveHours
    }

    /// Reads the order from a locale's patterns for `%x` and `%X`.
    init(date: String, time: String) {
        let parts = Self.conversions(date).compactMap { letter -> First? in
            switch letter {
            case "d", "e": .day
            case "m", "b", "B", "h", "D": .month
            case "y", "Y", "G", "C", "F": .year
            default: nil
            }
        }
        first = parts.first ?? .day
        isTwelveHours = Self.conversions(time).contains { "rIlpP".contains($0) }
    }

    /// The order of the user's locale.
    static var current: DateOrder {
        let name = setlocale(LC_TIME, nil).map { String(cString: $0) } ?? "C"
        guard !["C", "POSIX"].contains(name.prefix { $0 != "." }) else { return .none }
        return DateOrder(
            date: String(cString: nl_langinfo(nl_item(D_FMT))), time: String(cString: nl_langinfo(nl_item(T_FMT))))
    }

    /// The `strftime` pattern for weekday, date and time of a photo.
    var long: String {
        let time = isTwelveHours ? "%I:%M %p" : "%R"
        switch first {
        case .day: return "%a %e %b %Y  " + time
        case .month: return "%a %b %e, %Y  " + time
        case .year: return "%a %F  " + time
        }
    }

    /// The `strftime` pattern for the title of a day's section.
    var day: String {
        switch first {
        case .day: "%A %e %B %Y"
        case .month: "%A, %B %e, %Y"
        case .year: "%A %F"
        }
    }
    /// The `strftime` pattern for the title of a month's section.
    var month: String { first == .year ? "%Y %B" : "%B %Y" }

    /// Returns the letters after the percent signs of a pattern, without flags and modifiers.
    private static func conversions(_ pattern: String) -> [Character] {
        pattern.split(separator: "%", omittingEmptySubsequences: false).dropFirst()
            .compactMap { $0.drop { "-_0^#EO".contains($0) }.first }
    }
}
