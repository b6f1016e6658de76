import Testing
import Text

struct AmountTests {
    @Test(
        "Byte counts are formatted with units",
        arguments: [
            (0, "0 B"), (999, "999 B"), (1_000, "1.0 KB"), (999_949, "999.9 KB"), (1_000_000, "1.0 MB"),
            (12_345_678_901, "12.3 GB"), (5_000_000_000_000_000, "5000.0 TB"), (.max, "9223372.0 TB"), (-5, "-5 B"),
        ] as [(Int64, String)])
    func bytes(amount: Int64, text: String) {
        #expect(ByteText.text(amount) == text)
    }

    @Test("A partial amount is shown with its total") func partialAmounts() {
        #expect(ByteText.text(1_500, of: 2_000_000) == "1.5 KB of 2.0 MB")
        #expect(ByteText.text(1_500, of: nil) == "1.5 KB")
    }

    @Test("Counts use singular and plural nouns") func counts() {
        #expect(CountText.text(1, "photo") == "1 photo" && CountText.text(0, "photo") == "0 photos")
        #expect(CountText.text(2, "gallery", "galleries") == "2 galleries")
    }
}
