import Cache
import Glibc
import Model

/// Moments as the user reads them: in his time zone and his locale.
enum DateText {
    /// For a list: weekday, date and time, in the locale's order.
    static func long(_ moment: Timestamp) -> String { format(moment, DateOrder.current.long) }

    /// For a status: date and time as the locale writes them. A user who has chosen no locale gets the order that is the
    /// same everywhere, and not that of the C language's home.
    static func short(_ moment: Timestamp) -> String { format(moment, DateOrder.current == .none ? "%F %T" : "%x %X") }

    /// The time of a day that is today, else the day: for what happened just now, and for what comes soon.
    static func clock(_ moment: Timestamp, now: Timestamp) -> String {
        format(moment, "%F") == format(now, "%F") ? format(moment, "%T") : format(moment, "%F %R")
    }

    /// Hour and minute of a day that is today, else with the day: for what comes by itself, where a second says nothing.
    static func minute(_ moment: Timestamp, now: Timestamp) -> String {
        format(moment, format(moment, "%F") == format(now, "%F") ? "%R" : "%F %R")
    }

    /// For a section: `Sunday 30 July 2006`.
    static func day(_ day: LocalDay) -> String { format(day, DateOrder.current.day) }

    /// For a section: `July 2006`.
    static func month(_ day: LocalDay) -> String { format(day, DateOrder.current.month) }

    private static func format(_ day: LocalDay, _ pattern: String) -> String {
        var parts = tm()
        (parts.tm_year, parts.tm_mon, parts.tm_mday) = (Int32(day.year - 1900), Int32(day.month - 1), Int32(day.day))
        // Works out the day of the week.
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
