import Testing

@testable import Settings

@Suite struct SyncIntervalTests {
    @Test(arguments: [
        ("30m", 30), ("30", 30), (" every 30m ", 30), ("2h", 120), ("1d", 1_440), ("7d", 10_080), ("EVERY 2 H", 120),
        ("never", 0), ("90m", 90), ("00001m", 1),
    ])
    func read(text: String, minutes: Int) throws {
        let interval = try #require(SyncInterval(text))
        #expect(interval.minutes == minutes)
        #expect(SyncInterval(interval.description) == interval && SyncInterval(interval.shortText) == interval)
    }

    @Test(arguments: [
        "", "0", "0m", "-5", "8d", "10081", "every", "every never mind", "1w", "m", "1.5h", "99999999999999999999d",
        "٣m",
        "30m 2h",
    ])
    func refused(text: String) { #expect(SyncInterval(text) == nil) }

    @Test func writtenAsShortAsPossible() {
        #expect(
            [1, 60, 90, 1_440, 2_880, 0].map { SyncInterval(minutes: $0)?.description } == [
                "every 1m", "every 1h", "every 90m", "every 1d", "every 2d", "never",
            ])
        #expect(SyncInterval(minutes: -1) == nil && SyncInterval(minutes: 10_081) == nil)
    }
}
