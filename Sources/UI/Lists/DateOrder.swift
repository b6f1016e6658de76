import Glibc

/// In which order a locale writes the parts of a date, and whether the day's hours go to twelve or to twenty-four.
struct DateOrder: Equatable {
    enum First { case day, month, year }

    let first: First
    let isTwelveHours: Bool

    /// The order that is the same everywhere, for a user who has chosen no locale.
    static let none = DateOrder(first: .day, isTwelveHours: false)

    init(first: First, isTwelveHours: Bool) {
        self.first = first
        self.isTwelveHours = isTwelveHours
    }

    /// Reads a locale's own patterns, those of `%x` and of `%X`.
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

    /// The user's.
    static var current: DateOrder {
        let name = setlocale(LC_TIME, nil).map { String(cString: $0) } ?? "C"
        guard !["C", "POSIX"].contains(name.prefix { $0 != "." }) else { return .none }
        return DateOrder(
            date: String(cString: nl_langinfo(nl_item(D_FMT))), time: String(cString: nl_langinfo(nl_item(T_FMT))))
    }

    /// Patterns for `strftime`: for a list, with weekday, date and time.
    var long: String {
        let time = isTwelveHours ? "%I:%M %p" : "%R"
        switch first {
        case .day: return "%a %e %b %Y  " + time
        case .month: return "%a %b %e, %Y  " + time
        case .year: return "%a %F  " + time
        }
    }

    /// For a section of a day, and of a month.
    var day: String {
        switch first {
        case .day: "%A %e %B %Y"
        case .month: "%A, %B %e, %Y"
        case .year: "%A %F"
        }
    }
    var month: String { first == .year ? "%Y %B" : "%B %Y" }

    /// The letters behind the signs for percent, and behind what may stand between: flags and other sets of digits.
    private static func conversions(_ pattern: String) -> [Character] {
        pattern.split(separator: "%", omittingEmptySubsequences: false).dropFirst()
            .compactMap { $0.drop { "-_0^#EO".contains($0) }.first }
    }
}
