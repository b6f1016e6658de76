import Glibc
import Model

/// A day in the user's time zone.
public struct LocalDay: Hashable, Sendable {
    /// The year, as written.
    public let year: Int
    /// 1…12.
    public let month: Int
    /// 1…31.
    public let day: Int

    /// The day that a moment falls on.
    public init(of moment: Timestamp) {
        var seconds = time_t(moment.seconds)
        var parts = tm()
        localtime_r(&seconds, &parts)
        year = Int(parts.tm_year) + 1900
        month = Int(parts.tm_mon) + 1
        day = Int(parts.tm_mday)
    }

    private init(year: Int, month: Int, day: Int) {
        self.year = year
        self.month = month
        self.day = day
    }

    /// The first day of the period that this day is in.
    func start(of rule: SectionRule) -> LocalDay {
        switch rule {
        case .none, .day: self
        case .month: LocalDay(year: year, month: month, day: 1)
        case .year: LocalDay(year: year, month: 1, day: 1)
        }
    }

    /// The first moment after the period that this day is in.
    func end(of rule: SectionRule) -> Timestamp {
        var parts = tm()
        let start = start(of: rule)
        // mktime carries over: the 32nd of January is the first of February.
        parts.tm_year = Int32(start.year - 1900 + (rule == .year ? 1 : 0))
        parts.tm_mon = Int32(start.month - 1 + (rule == .month ? 1 : 0))
        parts.tm_mday = Int32(start.day + (rule == .day ? 1 : 0))
        parts.tm_isdst = -1
        return Timestamp(milliseconds: Int64(mktime(&parts)) * 1000)
    }
}
