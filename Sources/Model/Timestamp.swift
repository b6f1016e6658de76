import Glibc
import Numbers

/// A moment in UTC, with a precision of a millisecond.
///
/// Gallery files and the cache store only moments. The user's time zone and locale apply when a screen shows a date.
public struct Timestamp: Hashable, Comparable, Sendable {
    /// The number of milliseconds since 1970-01-01T00:00:00Z, negative for earlier moments.
    public var milliseconds: Int64

    /// Creates the moment this many milliseconds after 1970-01-01T00:00:00Z.
    public init(milliseconds: Int64) {
        self.milliseconds = milliseconds
    }

    /// The date of a photo whose date is unknown. No photo was taken at that moment, so the value cannot be mistaken
    /// for a known date.
    public static let unknown = Timestamp(milliseconds: 0)

    /// The number of whole seconds since 1970-01-01T00:00:00Z, rounded down.
    public var seconds: Int64 {
        // Divide before subtracting. A damaged cache may contain any number, so an earlier subtraction could overflow.
        milliseconds / 1000 - (milliseconds % 1000 < 0 ? 1 : 0)
    }

    /// The milliseconds within the second, from 0 to 999.
    public var millisecondsPart: Int {
        Int((milliseconds % 1000 + 1000) % 1000)
    }

    /// Returns the moment this many seconds later, or earlier for a negative number.
    public func advanced(by seconds: Double) -> Timestamp {
        Timestamp(milliseconds: Int64(clamped: Double(milliseconds) + seconds * 1000))
    }

    /// Compares two moments. Earlier moments come first.
    public static func < (left: Timestamp, right: Timestamp) -> Bool {
        left.milliseconds < right.milliseconds
    }
}

extension Timestamp {
    /// Parses `yyyy-MM-ddTHH:mm:ss`, an optional fraction of a second, and `Z` or a numeric offset.
    ///
    ///     Timestamp(iso8601: "2006-07-30T07:47:17Z")
    ///     Timestamp(iso8601: "2006-07-30T09:47:17.5+02:00")     // half a second after the one above
    ///
    /// Returns nil for any other text. Drops digits beyond the millisecond.
    public init?(iso8601 text: String) {
        var text = text
        guard let moment = text.withUTF8({ Timestamp(iso8601: UnsafeRawBufferPointer($0)) }) else { return nil }
        self = moment
    }

    /// Parses UTF-8 bytes in the same format as `init(iso8601:)` for strings.
    public init?(iso8601 bytes: UnsafeRawBufferPointer) {
        var digits = DigitReader(bytes: bytes)
        guard let year = digits.number(ofDigits: 4), digits.skip("-"),
            let month = digits.number(ofDigits: 2), digits.skip("-"),
            let day = digits.number(ofDigits: 2), digits.skip("T"),
            let hour = digits.number(ofDigits: 2), digits.skip(":"),
            let minute = digits.number(ofDigits: 2), digits.skip(":"),
            let second = digits.number(ofDigits: 2),
            let fraction = digits.milliseconds(),
            let offset = digits.zone(),
            digits.isAtEnd
        else { return nil }
        // A leap second becomes the first second of the next minute.
        guard let date = CivilDate(year: year, month: month, day: day),
            hour < 24, minute < 60, second <= 60
        else { return nil }
        let seconds = date.daysSince1970 * 86_400 + hour * 3600 + minute * 60 + second - offset
        self.init(milliseconds: Int64(seconds) * 1000 + Int64(fraction))
    }

    /// The moment in the form of gallery files, `yyyy-MM-ddTHH:mm:ssZ`. A fraction follows the seconds unless it is
    /// zero.
    public var iso8601: String {
        let days = Int((seconds - (seconds % 86_400 + 86_400) % 86_400) / 86_400)
        let time = Int(seconds) - days * 86_400
        let date = CivilDate(daysSince1970: days)
        let fraction = millisecondsPart == 0 ? "" : "." + millisecondsPart.padded(to: 3)
        return "\(date.year.padded(to: 4))-\(date.month.padded(to: 2))-\(date.day.padded(to: 2))"
            + "T\((time / 3600).padded(to: 2)):\((time / 60 % 60).padded(to: 2)):\((time % 60).padded(to: 2))"
            + "\(fraction)Z"
    }
}

extension Timestamp {
    /// Parses a time without a time zone, like that of a camera: `2006-07-30T07:47:17`. Assumes this machine's zone.
    public init?(localTime text: String) {
        guard let asUTC = Timestamp(iso8601: text + "Z") else { return nil }
        self.init(cameraTime: asUTC)
    }

    /// Parses the time when a photo was taken, in the form of `PhotoMetadata.takenAt`. A text with a `Z` at its end is
    /// in UTC. Any other text is by the camera's clock.
    public init?(takenAt text: String) {
        if text.hasSuffix("Z") { self.init(iso8601: text) } else { self.init(localTime: text) }
    }

    /// Converts a time without a zone. Assumes the zone of this machine.
    ///
    /// - Parameter asUTC: the time as if it were UTC.
    public init?(cameraTime asUTC: Timestamp) {
        var seconds = time_t(asUTC.seconds)
        var fields = tm()
        guard gmtime_r(&seconds, &fields) != nil else { return nil }
        // Let the system determine daylight saving.
        fields.tm_isdst = -1
        self.init(milliseconds: Int64(mktime(&fields)) * 1_000)
    }
}

/// Reads the fields of a date one by one.
private struct DigitReader {
    let bytes: UnsafeRawBufferPointer
    private var offset = 0

    init(bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
    }

    var isAtEnd: Bool { offset == bytes.count }

    mutating func number(ofDigits count: Int) -> Int? {
        guard bytes.count - offset >= count else { return nil }
        var value = 0
        for index in offset..<offset + count {
            guard (0x30...0x39).contains(bytes[index]) else { return nil }
            value = value * 10 + Int(bytes[index] - 0x30)
        }
        offset += count
        return value
    }

    mutating func skip(_ character: Unicode.Scalar) -> Bool {
        guard offset < bytes.count, bytes[offset] == UInt8(ascii: character) else { return false }
        offset += 1
        return true
    }

    /// Reads the optional fraction of a second. Returns 0 without a fraction, and nil for a dot without digits.
    mutating func milliseconds() -> Int? {
        guard skip(".") else { return 0 }
        var value = 0
        var count = 0
        while let digit = number(ofDigits: 1) {
            if count < 3 { value = value * 10 + digit }
            count += 1
        }
        guard count > 0 else { return nil }
        for _ in count..<max(count, 3) { value *= 10 }
        return value
    }

    /// Reads the time zone. Returns the number of seconds by which the zone is ahead of UTC, or nil if the text is
    /// invalid.
    mutating func zone() -> Int? {
        if skip("Z") { return 0 }
        let sign: Int
        if skip("+") { sign = 1 } else if skip("-") { sign = -1 } else { return nil }
        guard let hours = number(ofDigits: 2), skip(":"), let minutes = number(ofDigits: 2),
            hours < 24, minutes < 60
        else { return nil }
        return sign * (hours * 3600 + minutes * 60)
    }
}

extension Int {
    /// Returns the decimal digits with leading zeros. A minus sign counts towards the width.
    fileprivate func padded(to width: Int) -> String {
        let digits = String(magnitude)
        let sign = self < 0 ? "-" : ""
        return sign + String(repeating: "0", count: Swift.max(0, width - digits.count - sign.count)) + digits
    }
}

/// A day of the proleptic Gregorian calendar.
///
/// The calculations let a year start in March, so that a leap day is its last day. The number of days before a month is
/// then a linear function of the month.
private struct CivilDate: Equatable {
    let year: Int
    let month: Int
    let day: Int

    /// Creates a day. Returns nil if the calendar has no such day.
    init?(year: Int, month: Int, day: Int) {
        guard (1...12).contains(month), (1...Self.days(inMonth: month, of: year)).contains(day) else {
            return nil
        }
        self.year = year
        self.month = month
        self.day = day
    }

    /// Creates the day this many days after 1970-01-01.
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
