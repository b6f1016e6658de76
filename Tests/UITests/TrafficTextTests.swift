import Model
import Testing

@testable import UI

struct TrafficTextTests {
    /// A text shortened for little room keeps its meaning.
    @Test(arguments: [
        (LinkQuality?.some(.good), "Network good", "good"), (.fair, "Network fair", "fair"),
        (.poor, "Network poor", "poor"), (nil, "", ""),
    ])
    func quality(quality: LinkQuality?, long: String, short: String) {
        let report = TrafficReport(quality: quality)
        #expect(TrafficText.state(report, columns: long.count).text == long)
        #expect(TrafficText.state(report, columns: long.count - 1).text == short)
        #expect(TrafficText.state(report, isUsed: false, columns: long.count).text == "Offline")
    }

    @Test("A missing network and an unreachable server have different texts")
    func theMissingNetworkOrServerIsNamed() {
        let gone = TrafficReport(quality: .good, isOnNetwork: false, unreachable: ["a.org"], running: 0)
        #expect(TrafficText.state(gone, columns: 40) == ("No network", true))
        let down = TrafficReport(unreachable: ["a.org"])
        #expect(TrafficText.state(down, columns: 40) == ("a.org cannot be reached", true))
        #expect(TrafficText.state(down, columns: 20) == ("unreachable", true))
        let several = TrafficReport(quality: .good, unreachable: ["a.org", "b.org", "c.org"])
        #expect(TrafficText.state(several, columns: 60).text == "a.org and 2 other hosts cannot be reached")
        // While another server sends something, its speed has precedence.
        let one = TrafficReport(quality: .good, unreachable: ["a.org"], running: 2)
        #expect(TrafficText.state(one, columns: 40) == ("Network good", false))
        #expect(TrafficText.particulars(one).first == "a.org cannot be reached")
    }

    /// The text counts transfers, since they may share connections or use several.
    @Test func transfersAreCounted() {
        let free = TrafficReport(running: 3, width: 8, limit: 64), bound = TrafficReport(running: 1, width: 4, limit: 4)
        #expect(TrafficText.particulars(free).first == "3 transfers, 8 in parallel")
        #expect(TrafficText.particulars(bound).first == "1 transfer, at most 4 in parallel")
        #expect(TrafficText.particulars(TrafficReport()) == ["0 B received"])
        let restrictions = ["vitrine-fetcher": ["Landlock 3", "seccomp"], "vitrine": ["seccomp"]]
        #expect(
            TrafficText.particulars(TrafficReport(), restrictions: restrictions).dropFirst()
                == ["vitrine: seccomp", "vitrine-fetcher: Landlock 3, seccomp"])
    }

    @Test func heldBackTransfersHaveAReason() {
        let (now, gone) = (Timestamp(milliseconds: 0), Failure("example.org cannot be reached", remedy: .network))
        let again = TransferReport.Stage.heldBack(gone, attempts: 2)
        #expect(TransferText.text(again, now: now) == "queued: example.org cannot be reached")
        #expect(
            TransferText.reason(again, now: now)
                == "example.org cannot be reached · tried 2 times, queued for a retry")
        #expect(
            TransferText.reason(.heldBack(gone, attempts: 0), now: now)
                == "example.org cannot be reached · not tried yet")
        #expect(TransferText.reason(.queued, now: now) == nil)
    }
}
