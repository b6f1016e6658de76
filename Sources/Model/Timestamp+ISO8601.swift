extension Timestamp {
    /// Reads `yyyy-MM-ddTHH:mm:ss`, an optional fraction of a second, and `Z` or a numeric offset.
    ///
    ///     Timestamp(iso8601: "2006-07-30T07:47:17Z")
    ///     Timestamp(iso8601: "2006-07-30T09:47:17.5+02:00")     // half a second after the one above
    ///
    /// Returns nil for anything else: a missing zone, a thirteenth month, a single character too many. Digits beyond
    /// the millisecond are read and dropped.
    public init?(iso8601 text: String) {
        var text = text
        guard let moment = text.withUTF8({ Timestamp(iso8601: UnsafeRawBufferPointer($0)) }) else { return nil }
        self = moment
    }

    /// The same of UTF-8 bytes.
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
        // A leap second is the first second of the next minute to a clock that does not know them.
        guard let date = CivilDate(year: year, month: month, day: day),
            hour < 24, minute < 60, second <= 60
        else { return nil }
        let seconds = date.daysSince1970 * 86_400 + hour * 3600 + minute * 60 + second - offset
        self.init(milliseconds: Int64(seconds) * 1000 + Int64(fraction))
    }

    /// The moment as gallery files write it, `yyyy-MM-ddTHH:mm:ssZ`, with a fraction only where there is one.
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

/// Walks over the bytes of a date, one field at a time.
private struct DigitReader {
    let bytes: UnsafeRawBufferPointer
    private var place = 0

    init(bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
    }

    var isAtEnd: Bool { place == bytes.count }

    mutating func number(ofDigits count: Int) -> Int? {
        guard bytes.count - place >= count else { return nil }
        var value = 0
        for index in place..<place + count {
            guard (0x30...0x39).contains(bytes[index]) else { return nil }
            value = value * 10 + Int(bytes[index] - 0x30)
        }
        place += count
        return value
    }

    mutating func skip(_ character: Unicode.Scalar) -> Bool {
        guard place < bytes.count, bytes[place] == UInt8(ascii: character) else { return false }
        place += 1
        return true
    }

    /// The fraction after the seconds; zero where there is none, nil where a dot is followed by no digit.
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

    /// Seconds that the written time is ahead of UTC.
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
    /// Decimal digits with leading zeros, a minus sign counted as one of them.
    fileprivate func padded(to width: Int) -> String {
        let digits = String(magnitude)
        let sign = self < 0 ? "-" : ""
        return sign + String(repeating: "0", count: Swift.max(0, width - digits.count - sign.count)) + digits
    }
}
