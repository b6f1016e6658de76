import Glibc
import Model

/// A section of a list: the photos of one period or folder. Photos without a date have a section of their own.
public struct PhotoSection: Hashable, Sendable {
    /// The property that the photos of a section share.
    public enum Name: Hashable, Sendable {
        /// A period that starts on this day.
        case period(LocalDay)
        /// An unknown date.
        case undated
        /// A folder.
        case folder(FolderPath)
    }

    /// The property that the section's photos share.
    public let name: Name
    /// The indices of the section's photos.
    public let range: Range<Int>
}

/// Divides sorted rows into sections: days, months, years or folders. The rows must be sorted by folder for folders,
/// and by date for the other sections. Days are those of the user's time zone.
///
/// The divider computes one section on demand, because a million rows may span ten thousand days.
struct SectionDivider {
    let rows: OrderedRows
    let rule: SectionRule

    /// Returns the section of the row at an index.
    func section(at index: Int) -> PhotoSection? {
        guard rule != .none, index >= 0, index < rows.count else { return nil }
        if rule == .folder {
            return rows.folder(at: index).map { PhotoSection(name: .folder($0.path), range: $0.range) }
        }
        let moment = Timestamp(milliseconds: rows.number(at: index))
        let afterUnknown = Timestamp(milliseconds: Timestamp.unknown.milliseconds + 1)
        guard moment != .unknown else {
            return PhotoSection(name: .undated, range: range(of: .unknown..<afterUnknown, around: index))
        }
        let day = LocalDay(of: moment)
        let moments = day.moments(of: rule)
        // Undated photos are sorted into a period of 1969 or 1970, but do not belong to it.
        let lower = moment > .unknown ? max(moments.lowerBound, afterUnknown) : moments.lowerBound
        let upper = moment < .unknown ? min(moments.upperBound, .unknown) : moments.upperBound
        return PhotoSection(
            name: .period(day.start(of: rule)), range: range(of: lower..<max(lower, upper), around: index))
    }

    /// Returns the rows of a time range. The result always contains the row `index`, even if the time zone has
    /// irregular days.
    private func range(of moments: Range<Timestamp>, around index: Int) -> Range<Int> {
        let start = rows.countOfRows(below: moments.lowerBound.milliseconds)
        let end = rows.countOfRows(below: moments.upperBound.milliseconds)
        return min(index, start)..<max(index + 1, end)
    }
}

/// A day in the user's time zone.
public struct LocalDay: Hashable, Sendable {
    /// The year.
    public let year: Int
    /// The month, from 1 to 12.
    public let month: Int
    /// The day of the month, from 1 to 31.
    public let day: Int

    /// Creates the day that contains a moment.
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

    /// Returns the first day of the period that contains this day.
    func start(of rule: SectionRule) -> LocalDay {
        switch rule {
        case .none, .day, .folder: self
        case .month: LocalDay(year: year, month: month, day: 1)
        case .year: LocalDay(year: year, month: 1, day: 1)
        }
    }

    /// Returns the time range of the period that contains this day.
    func moments(of rule: SectionRule) -> Range<Timestamp> {
        let start = start(of: rule)
        let (beginning, end) = (
            Self.moment(start.year, start.month, start.day),
            // mktime normalises: the 32nd of January is the first of February.
            Self.moment(
                start.year + (rule == .year ? 1 : 0), start.month + (rule == .month ? 1 : 0),
                start.day + (rule == .year || rule == .month ? 0 : 1))
        )
        return beginning..<max(beginning, end)
    }

    /// Whether the calendar has this day. The 30th of February does not exist.
    var exists: Bool {
        // A change of the clocks can skip midnight, but not noon.
        var parts = Self.parts(year, month, day)
        parts.tm_hour = 12
        _ = mktime(&parts)
        return Int(parts.tm_mday) == day
    }

    private static func parts(_ year: Int, _ month: Int, _ day: Int) -> tm {
        var parts = tm()
        parts.tm_year = Int32(year - 1900)
        parts.tm_mon = Int32(month - 1)
        parts.tm_mday = Int32(day)
        parts.tm_isdst = -1
        return parts
    }

    private static func moment(_ year: Int, _ month: Int, _ day: Int) -> Timestamp {
        var parts = Self.parts(year, month, day)
        let (milliseconds, overflows) = Int64(mktime(&parts)).multipliedReportingOverflow(by: 1000)
        // A damaged cache may contain the last representable moment. The end of its period is even later.
        return Timestamp(milliseconds: overflows ? (year < 1970 ? .min : .max) : milliseconds)
    }
}
