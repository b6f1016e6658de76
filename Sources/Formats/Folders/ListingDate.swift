import Model

/// Reads the dates that servers write into the lists of folders.
enum ListingDate {
    private static let months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]

    /// Parses a date of an HTTP header or of RFC 3339. Returns nil for other strings.
    ///
    /// An example of a header's date is `Sun, 06 Nov 1994 08:49:37 GMT`; the leading zero and the weekday may be
    /// missing. An example of RFC 3339 is `1994-11-06T08:49:37.123456Z`.
    static func moment(_ text: some StringProtocol) -> Timestamp? {
        if let moment = text.utf8.withContiguousStorageIfAvailable(UsualDate.header) ?? nil { return moment }
        if text.utf8.count <= maximumLength, text.utf8.first.map({ (0x30...0x39).contains($0) }) == true,
            let moment = Timestamp(iso8601: String(text))
        {
            return moment
        }
        guard text.utf8.count <= maximumLength else { return nil }
        var fields = text.split { $0 == " " || $0 == "," || $0 == "-" }.map { $0.lowercased() }
        if let first = fields.first, first.first?.isLetter == true { fields.removeFirst() }
        guard fields.count == 5, ["gmt", "utc", "z", "+0000"].contains(fields[4]) else { return nil }
        return moment(day: fields[0], month: fields[1], year: fields[2], time: fields[3])
    }

    /// Parses the fields of a date in UTC. Examples are `25`, `Nov`, `2026` and `21:07:00` or `21:07`.
    static func moment(
        day: some StringProtocol, month: some StringProtocol, year: some StringProtocol, time: some StringProtocol
    ) -> Timestamp? {
        guard let month = monthNumber(month), day.utf8.count <= 2, year.utf8.count == 4 else { return nil }
        let seconds = time.utf8.count == 5 ? ":00" : ""
        return Timestamp(
            iso8601: "\(year)-\(month)-\(day.utf8.count == 1 ? "0" : "")\(day)T\(time)\(seconds)Z")
    }

    /// Returns the two digits of a month. Accepts the month's English abbreviation, in upper or lower case, and digits.
    private static func monthNumber(_ month: some StringProtocol) -> String? {
        if month.utf8.count == 2, month.utf8.allSatisfy({ (0x30...0x39).contains($0) }) { return String(month) }
        guard let index = months.firstIndex(of: month.lowercased()) else { return nil }
        return index < 9 ? "0\(index + 1)" : "\(index + 1)"
    }

    /// The maximum number of characters of a date.
    private static let maximumLength = 64
}

/// Reads the most frequent forms of dates quickly. A list may have very many dates.
///
/// ``ListingDate`` and ``RowDate`` read all forms. For the most frequent forms, they have the same results as this
/// type.
enum UsualDate {
    /// Reads a whole string such as `Sun, 06 Nov 1994 08:49:37 GMT`, as WebDAV servers write it.
    static func header(_ text: UnsafeBufferPointer<UInt8>) -> Timestamp? {
        guard text.count == 29, text[..<3].allSatisfy({ (0x61...0x7A).contains($0 | 0x20) }),
            text[3] == UInt8(ascii: ","), [4, 7, 11, 16, 25].allSatisfy({ text[$0] == space }),
            text[26...].elementsEqual("GMT".utf8), let month = month(text[8..<11])
        else { return nil }
        return moment(year: text[12..<16], month, day: text[5..<7], time: text[17..<25])
    }

    /// Reads the date at the beginning of a row's text. The form is `25-Nov-2026 21:00` of nginx, or
    /// `2026-11-25 21:00` of Apache. Returns nil if an offset from UTC follows.
    static func row(_ text: UnsafeBufferPointer<UInt8>) -> Timestamp? {
        if text.count >= 17, text[2] == dash, text[6] == dash, text[11] == space, isEnd(17, of: text) {
            guard let month = month(text[3..<6]) else { return nil }
            return moment(year: text[7..<11], month, day: text[..<2], time: text[12..<17])
        }
        guard text.count >= 16, text[4] == dash, text[7] == dash, text[10] == space, isEnd(16, of: text) else {
            return nil
        }
        return moment(year: text[..<4], (text[5], text[6]), day: text[8..<10], time: text[11..<16])
    }

    private static let dash = UInt8(ascii: "-")
    private static let space = UInt8(ascii: " ")
    private static let months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
        .map { letters($0.utf8) }

    /// Returns whether a date without an offset ends at a position.
    private static func isEnd(_ position: Int, of text: UnsafeBufferPointer<UInt8>) -> Bool {
        guard position < text.count else { return true }
        return text[position] == space
            && (position + 1 == text.count || (text[position + 1] != UInt8(ascii: "+") && text[position + 1] != dash))
    }

    /// Returns the two digits of a month's English abbreviation.
    private static func month(_ name: Slice<UnsafeBufferPointer<UInt8>>) -> (UInt8, UInt8)? {
        guard let index = months.firstIndex(of: letters(name)) else { return nil }
        return index < 9 ? (0x30, 0x31 + UInt8(index)) : (0x31, 0x27 + UInt8(index))
    }

    /// Packs letters into a number. Upper and lower case give the same number.
    private static func letters(_ text: some Sequence<UInt8>) -> UInt32 {
        text.reduce(0) { $0 << 8 | UInt32($1 | 0x20) }
    }

    /// Returns the moment for the parts of a date. The time is `21:07` or `21:07:00`.
    private static func moment(
        year: Slice<UnsafeBufferPointer<UInt8>>, _ month: (UInt8, UInt8), day: Slice<UnsafeBufferPointer<UInt8>>,
        time: Slice<UnsafeBufferPointer<UInt8>>
    ) -> Timestamp? {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 20) { buffer in
            var count = 0
            func append(_ bytes: some Sequence<UInt8>) {
                for byte in bytes {
                    buffer[count] = byte
                    count += 1
                }
            }
            append(year)
            append([dash, month.0, month.1, dash])
            append(day)
            append(CollectionOfOne(UInt8(ascii: "T")))
            append(time)
            if time.count == 5 { append(":00".utf8) }
            append(CollectionOfOne(UInt8(ascii: "Z")))
            return Timestamp(iso8601: UnsafeRawBufferPointer(buffer))
        }
    }
}
