import Testing

@testable import Text

@Suite struct NumberFormatTests {
    private static let german = NumberFormat(point: ",", separator: ".", groups: [3, 3])
    private static let indian = NumberFormat(point: ".", separator: ",", groups: [3, 2])

    @Test(
        "Digits are grouped as in the locale",
        arguments: [
            (0, "0", "0"), (7, "7", "7"), (999, "999", "999"), (1_000, "1.000", "1,000"), (-1_000, "-1.000", "-1,000"),
            (123_456, "123.456", "1,23,456"), (1_234_567, "1.234.567", "12,34,567"),
            (Int.max, "9.223.372.036.854.775.807", "92,23,37,20,36,85,47,75,807"),
            (Int.min, "-9.223.372.036.854.775.808", "-92,23,37,20,36,85,47,75,808"),
        ]) func groups(number: Int, german: String, indian: String)
    {
        #expect(Self.german.text(number) == german && Self.indian.text(number) == indian)
        #expect(NumberFormat.plain.text(number) == "\(number)")
        #expect(NumberFormat(point: ".", separator: "", groups: [3]).text(number) == "\(number)")
        #expect(NumberFormat(point: ".", separator: ",", groups: []).text(number) == "\(number)")
    }

    @Test("Tenths use the locale's decimal point") func tenths() {
        #expect(Self.german.text(tenths: 12) == "1,2" && Self.german.text(tenths: 10) == "1,0")
        #expect(Self.german.text(tenths: 12_345) == "1.234,5" && NumberFormat.plain.text(tenths: 12_345) == "1234.5")
    }

    @Test("Amounts use the number format") func amounts() {
        #expect(ByteText.text(1_234_567, Self.german) == "1,2 MB" && ByteText.text(999, Self.german) == "999 B")
        #expect(ByteText.text(5_000_000_000_000_000, Self.german) == "5.000,0 TB")
        #expect(CountText.text(1_204, "photo", nil, Self.german) == "1.204 photos")
    }

    /// Tests run without a locale.
    @Test("Without a locale numbers are plain") func noLocale() {
        #expect(NumberFormat.current == .plain)
        #expect(CountText.text(3, of: 1_204) == "3 of 1204")
    }
}
