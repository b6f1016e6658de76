import Model
import Testing

@testable import Formats

/// The dates of the most frequent servers, which are read in few steps.
@Suite struct UsualDateTests {
    private func header(_ text: String) -> Timestamp? {
        text.utf8.withContiguousStorageIfAvailable(UsualDate.header) ?? nil
    }

    private func row(_ text: String) -> Timestamp? {
        text.utf8.withContiguousStorageIfAvailable(UsualDate.row) ?? nil
    }

    @Test("All months are read as in every other date", arguments: 1...12)
    func months(month: Int) throws {
        let names = ["Jan", "feb", "MAR", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        let (name, digits) = (names[month - 1], month < 10 ? "0\(month)" : "\(month)")
        let minute = try #require(Timestamp(iso8601: "1994-\(digits)-06T08:49:00Z"))
        #expect(row("06-\(name)-1994 08:49") == minute)
        #expect(row("06-\(name)-1994 08:49 12345") == minute)
        #expect(row("1994-\(digits)-06 08:49") == minute)
        #expect(row("1994-\(digits)-06 08:49 1.2M") == minute)
        #expect(header("Sun, 06 \(name) 1994 08:49:37 GMT") == minute.advanced(by: 37))
    }

    @Test("Dates with an offset, with other parts and without meaning are left to the general readers")
    func others() {
        for text in [
            "1994-11-06 08:49 +0100", "1994-11-06 08:49 -0100", "06-Nov-1994 08:49 -", "1994-11-06 08:49:37",
            "06-Nov-1994 08:49:37", "06-Mai-1994 08:49", "1994-11-31 08:49", "1994-11-06 24:00", "06-Nov-94 08:49",
            "1994-1a-06 08:49", "0a-Nov-1994 08:49", "06-Nov-1994", "",
        ] { #expect(row(text) == nil, "\(text)") }
        for text in [
            "Sun, 06 Nov 1994 08:49:37 UTC", "Sun, 06 Nov 1994 08:49:60 GMT ", "S-n, 06 Nov 1994 08:49:37 GMT",
            "Sun, 31 Nov 1994 08:49:37 GMT", "Sunday, 06 Nov 1994 8:49 GMT", "Sun  06 Nov 1994 08:49:37 GMT", "",
        ] { #expect(header(text) == nil, "\(text)") }
    }

    @Test("Each date has the same moment for the general readers")
    func equality() {
        for text in ["Sun, 06 Nov 1994 08:49:37 GMT", "sun, 29 FEB 2000 23:59:60 GMT"] {
            #expect(header(text) != nil && header(text) == ListingDate.moment(text + " "), "\(text)")
        }
        for text in ["06-Nov-1994 08:49", "2000-02-29 23:59", "06-Nov-1994 08:49 294"] {
            #expect(row(text) != nil && row(text) == RowDate.moment(in: "x " + text), "\(text)")
        }
    }
}
