import Testing

@testable import Settings

@Suite struct DataSizeTests {
    @Test(
        arguments: [
            ("0", 0), ("1", 1), ("500M", 500 << 20), ("2G", 2 << 30), ("2g", 2 << 30), ("3K", 3 << 10), ("1T", 1 << 40),
            ("1025", 1025), ("none", nil),
        ] as [(String, Int64?)])
    func read(text: String, bytes: Int64?) {
        #expect(DataSize(text) == DataSize(bytes: bytes))
        #expect(DataSize(DataSize(bytes: bytes).text) == DataSize(bytes: bytes))
    }

    @Test(arguments: ["", "G", "1.5G", "-1", "+1", "2GB", "2 G", " 2G", "none ", "0x10", "٣G", "9999999999T"])
    func refused(text: String) {
        #expect(DataSize(text) == nil)
    }

    @Test func usesTheLargestUnit() {
        #expect(DataSize(bytes: 2 << 30).text == "2G" && DataSize(bytes: 1_536 << 20).text == "1536M")
        #expect(DataSize(bytes: 0).text == "0" && DataSize(bytes: nil).text == "none")
    }
}
