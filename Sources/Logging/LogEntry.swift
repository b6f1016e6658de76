import Glibc
import Text

/// One line of the log.
public struct LogEntry: Hashable, Sendable {
    /// Counts up by one from entry to entry; tells what is new since a reader last looked.
    public let sequence: Int
    /// Milliseconds since 1970.
    public let time: Int64
    /// Who wrote it.
    public let subsystem: LogSubsystem
    /// How much it matters.
    public let level: LogLevel
    /// What happened: one line, made harmless, bounded.
    public let message: String

    /// The longest message that is kept, in bytes. Servers can put a megabyte into a header.
    static let maximumLength = 2_000

    init(sequence: Int, time: Int64, subsystem: LogSubsystem, level: LogLevel, message: String) {
        self.sequence = sequence
        self.time = time
        self.subsystem = subsystem
        self.level = level
        let bounded =
            message.utf8.count <= Self.maximumLength
            ? message : String(decoding: message.utf8.prefix(Self.maximumLength), as: UTF8.self) + "…"
        self.message = bounded.madeVisible
    }

    /// The entry as it stands in a file and on the log screen: `YYYY-MM-DD HH:MM:SS.mmm subsystem message`, in the
    /// user's time zone.
    public var line: String {
        var seconds = time_t(time / 1000)
        var parts = tm()
        localtime_r(&seconds, &parts)
        let date = [Int(parts.tm_year) + 1900, Int(parts.tm_mon) + 1, Int(parts.tm_mday)].map(Self.padded)
        let clock = [parts.tm_hour, parts.tm_min, parts.tm_sec].map { Self.padded(Int($0)) }
        let milliseconds = String(1000 + time % 1000).dropFirst()
        return date.joined(separator: "-") + " " + clock.joined(separator: ":")
            + ".\(milliseconds) \(subsystem.name) \(message)"
    }

    private static func padded(_ number: Int) -> String {
        number < 10 ? "0\(number)" : "\(number)"
    }
}
