/// A day of the proleptic Gregorian calendar.
///
/// Counting starts in March: with February, and its odd day, at the end of the counted year, the days before a month
/// are a linear function of the month, and a leap year needs no case of its own.
struct CivilDate: Equatable {
    let year: Int
    let month: Int
    let day: Int

    /// The day, or nil if the calendar has no such day.
    init?(year: Int, month: Int, day: Int) {
        guard (1...12).contains(month), (1...Self.days(inMonth: month, of: year)).contains(day) else {
            return nil
        }
        self.year = year
        self.month = month
        self.day = day
    }

    /// The day that many days after 1970-01-01.
    init(daysSince1970 days: Int) {
        let shifted = days + Self.daysFromMarchOfYear0To1970
        let era = (shifted - (shifted % 146_097 + 146_097) % 146_097) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
        month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    }

    var daysSince1970: Int {
        let countedYear = month <= 2 ? year - 1 : year
        let era = (countedYear - (countedYear % 400 + 400) % 400) / 400
        let yearOfEra = countedYear - era * 400
        let monthFromMarch = month > 2 ? month - 3 : month + 9
        let dayOfYear = (153 * monthFromMarch + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return era * 146_097 + dayOfEra - Self.daysFromMarchOfYear0To1970
    }

    private static func days(inMonth month: Int, of year: Int) -> Int {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    private static let daysFromMarchOfYear0To1970 = 719_468
}
