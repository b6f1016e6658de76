import Model
import Testing

@testable import Screens

struct TrafficTextTests {
    /// A word that is left where there is little room means what all of them do.
    @Test(arguments: [
        (LinkQuality?.some(.good), "Network good", "good"), (.fair, "Network fair", "fair"),
        (.poor, "Network poor", "poor"), (.offline, "No network", "offline"), (nil, "", ""),
    ])
    func quality(quality: LinkQuality?, long: String, short: String) {
        #expect(TrafficText.quality(quality, columns: long.count) == long)
        #expect(TrafficText.quality(quality, columns: long.count - 1) == short)
        #expect(TrafficText.quality(quality, isUsed: false, columns: long.count) == "Offline")
    }

    /// Of a shared connection or a photo in pieces it would not be true of connections.
    @Test func transfersAreCounted() {
        #expect(TrafficText.particulars(TrafficReport(running: 3, limit: 64)).first == "3 transfers, 64 at most")
        #expect(TrafficText.particulars(TrafficReport(running: 1, limit: 8)).first == "1 transfer, 8 at most")
        #expect(TrafficText.particulars(TrafficReport()) == ["0 B received"])
    }

    @Test func whatIsHeldBackSaysWhy() {
        let (now, gone) = (Timestamp(milliseconds: 0), Failure("example.org cannot be reached", remedy: .network))
        let again = TransferReport.Stage.heldBack(gone, attempts: 2)
        #expect(TransferText.text(again, now: now) == "queued: example.org cannot be reached")
        #expect(
            TransferText.reason(again, now: now)
                == "example.org cannot be reached · tried 2 times, again when its turn comes")
        #expect(
            TransferText.reason(.heldBack(gone, attempts: 0), now: now)
                == "example.org cannot be reached · not tried yet")
        #expect(TransferText.reason(.queued, now: now) == nil)
    }
}
