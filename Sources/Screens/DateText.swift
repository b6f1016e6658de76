import Glibc
import Model

/// Moments as the user reads them: in his time zone and his locale.
enum DateText {
    /// For a list: weekday, day, month, year and time.
    static func long(_ moment: Timestamp) -> String { format(moment, "%a %e %b %Y  %R") }

    /// For a status: date and time as the locale writes them.
    static func short(_ moment: Timestamp) -> String { format(moment, "%x %X") }

    private static func format(_ moment: Timestamp, _ pattern: String) -> String {
        var seconds = time_t(moment.seconds)
        var parts = tm()
        localtime_r(&seconds, &parts)
        var buffer = [CChar](repeating: 0, count: 128)
        let count = strftime(&buffer, buffer.count, pattern, &parts)
        return String(decoding: buffer.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
