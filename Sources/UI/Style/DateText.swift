import Cache
import Glibc
import Model

/// Formats times in the user's time zone and locale.
enum DateText {
    /// The text for an unknown date.
    static let unknown = "unknown date"

    /// Returns weekday, date and time in the order of the user's locale.
    static func long(_ moment: Timestamp) -> String {
        moment == .unknown ? unknown : format(moment, DateOrder.current.long)
    }

    /// Returns date and time as the user's locale writes them. Without a locale, the form is ISO 8601.
    static func short(_ moment: Timestamp) -> String { format(moment, DateOrder.current == .none ? "%F %T" : "%x %X") }

    /// Returns the time, preceded by the date unless the date is today.
    static func clock(_ moment: Timestamp, now: Timestamp) -> String {
        format(moment, "%F") == format(now, "%F") ? format(moment, "%T") : format(moment, "%F %R")
    }

    /// Returns hour and minute, preceded by the date unless the date is today.
    static func minute(_ moment: Timestamp, now: Timestamp) -> String {
        format(moment, format(moment, "%F") == format(now, "%F") ? "%R" : "%F %R")
    }

    /// Returns the title of a day's section, such as `Sunday 30 July 2006`.
    static func day(_ day: LocalDay) -> String { format(day, DateOrder.current.day) }

    /// Returns the title of a month's section, such as `July 2006`.
    static func month(_ day: LocalDay) -> String { format(day, DateOrder.current.month) }

    private static func format(_ day: LocalDay, _ pattern: String) -> String {
        var parts = tm()
        (parts.tm_year, parts.tm_mon, parts.tm_mday) = (Int32(day.year - 1900), Int32(day.month - 1), Int32(day.day))
        // mktime computes the weekday.
        parts.tm_hour = 12
        parts.tm_isdst = -1
        _ = mktime(&parts)
        return format(&parts, pattern)
    }

    private static func format(_ moment: Timestamp, _ pattern: String) -> String {
        var seconds = time_t(moment.seconds)
        var parts = tm()
        localtime_r(&seconds, &parts)
        return format(&parts, pattern)
    }

    private static func format(_ parts: inout tm, _ pattern: String) -> String {
        var buffer = [CChar](repeating: 0, count: 128)
        let count = strftime(&buffer, buffer.count, pattern, &parts)
        return String(decoding: buffer.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}

/// Formats the lengths of videos.
enum VideoText {
    /// Returns a length such as `0:12` or `1:02:03`. Returns `unknown length` for 0.
    static func length(_ milliseconds: Int) -> String {
        milliseconds > 0 ? clock(milliseconds / 1_000) : "unknown length"
    }

    private static func clock(_ seconds: Int) -> String {
        let (hours, minutes) = (seconds / 3_600, seconds / 60 % 60)
        let tail = (seconds % 60 < 10 ? ":0" : ":") + String(seconds % 60)
        return hours == 0 ? "\(minutes)\(tail)" : "\(hours)\(minutes < 10 ? ":0" : ":")\(minutes)\(tail)"
    }

    /// Returns the position in a playing video, such as `0:12 / 1:03`. If the length is unknown, returns only `0:12`.
    static func position(_ position: Duration, of milliseconds: Int) -> String {
        let text = clock(max(0, Int(clamping: position.components.seconds)))
        return milliseconds > 0 ? "\(text) / \(length(milliseconds))" : text
    }

    /// Returns a text such as `video 0:12`, or `video` if the length is unknown.
    static func text(_ milliseconds: Int) -> String { milliseconds > 0 ? "video \(length(milliseconds))" : "video" }

    /// Returns a video's part of a status text, such as ` · video 0:12`. Returns an empty text for a photo.
    static func suffix(_ photo: Photo) -> String { photo.videoMilliseconds.map { " · " + text($0) } ?? "" }
}

/// A locale's order of date parts, and its 12- or 24-hour clock.
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
