import Model
import Testing

@testable import Screens

struct TrafficTextTests {
    /// A word that is left where there is little room means what all of them do.
    @Test(arguments: [
        (LinkQuality.good, "Network good", "good"), (.fair, "Network fair", "fair"), (.poor, "Network poor", "poor"),
        (.offline, "No network", "offline"),
    ])
    func quality(quality: LinkQuality, long: String, short: String) {
        #expect(TrafficText.quality(quality, columns: long.count) == long)
        #expect(TrafficText.quality(quality, columns: long.count - 1) == short)
    }
}
