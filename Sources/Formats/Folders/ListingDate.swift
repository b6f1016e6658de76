import Model

/// Reads the dates that servers write into the lists of folders.
enum ListingDate {
    private static let months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]

    /// Parses the date of an HTTP header, such as `Sun, 06 Nov 1994 08:49:37 GMT`, also without a leading zero and
    /// without the weekday; or a date of RFC 3339, such as `1994-11-06T08:49:37.123456Z`. Returns nil for other
    /// strings.
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

    /// Parses the fields of a date whose time zone is UTC, such as `25`, `Nov`, `2026` and `21:07:00` or `21:07`.
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

    /// The most characters of a date.
    private static let maximumLength = 64
}
