import Glibc
import Model

/// A stretch of a list of photos that were taken in the same day, month or year.
public struct PhotoSection: Hashable, Sendable {
    /// The first day of the period.
    public let start: LocalDay
    /// The places of its photos in the list.
    public let range: Range<Int>
}

/// Divides rows that are sorted by date into days, months or years of the user's time zone.
///
/// It looks for one section at a time, from one of its rows on: a million rows may have ten thousand days.
struct SectionDivider {
    let rows: OrderedRows
    let rule: SectionRule

    /// The section that a row is in, by its place among the rows.
    func section(at place: Int) -> PhotoSection? {
        guard rule != .none, place >= 0, place < rows.count else { return nil }
        let day = LocalDay(of: Timestamp(milliseconds: rows.number(at: place)))
        let moments = day.moments(of: rule)
        // At least that row, whatever a time zone's history makes of its periods.
        let start = min(place, rows.countOfRows(below: moments.lowerBound.milliseconds))
        let end = max(place + 1, rows.countOfRows(below: moments.upperBound.milliseconds))
        return PhotoSection(start: day.start(of: rule), range: start..<end)
    }
}

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

    init(year: Int, month: Int, day: Int) {
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

    /// The moments of the period that this day is in.
    func moments(of rule: SectionRule) -> Range<Timestamp> {
        let start = start(of: rule)
        let (beginning, end) = (
            Self.moment(start.year, start.month, start.day),
            // mktime carries over: the 32nd of January is the first of February.
            Self.moment(
                start.year + (rule == .year ? 1 : 0), start.month + (rule == .month ? 1 : 0),
                start.day + (rule == .day || rule == .none ? 1 : 0))
        )
        return beginning..<max(beginning, end)
    }

    private static func moment(_ year: Int, _ month: Int, _ day: Int) -> Timestamp {
        var parts = tm()
        parts.tm_year = Int32(year - 1900)
        parts.tm_mon = Int32(month - 1)
        parts.tm_mday = Int32(day)
        parts.tm_isdst = -1
        let (milliseconds, overflows) = Int64(mktime(&parts)).multipliedReportingOverflow(by: 1000)
        // A damaged cache may hold the last moment that there is, and this is one behind it.
        return Timestamp(milliseconds: overflows ? (year < 1970 ? .min : .max) : milliseconds)
    }
}
