import Glibc
import Model

/// Moments as the user reads them: in his time zone and his locale.
enum DateText {
    /// For a list: weekday, day, month, year and time.
    static func long(_ moment: Timestamp) -> String { format(moment, "%a %e %b %Y  %R") }

    /// For a status: date and time as the locale writes them. A user who has chosen no locale gets the order that is the
    /// same everywhere, and not that of the C language's home.
    static func short(_ moment: Timestamp) -> String { format(moment, hasLocale ? "%x %X" : "%F %T") }

    private static var hasLocale: Bool {
        let name = setlocale(LC_TIME, nil).map { String(cString: $0) } ?? "C"
        return !["C", "POSIX"].contains(name.prefix { $0 != "." })
    }

    private static func format(_ moment: Timestamp, _ pattern: String) -> String {
        var seconds = time_t(moment.seconds)
        var parts = tm()
        localtime_r(&seconds, &parts)
        var buffer = [CChar](repeating: 0, count: 128)
        let count = strftime(&buffer, buffer.count, pattern, &parts)
        return String(decoding: buffer.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
