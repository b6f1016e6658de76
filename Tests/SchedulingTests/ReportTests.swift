import Model
import TestSupport
import Testing

@testable import Scheduling

/// What is said of the network, by whom nothing or not much is known of it.
@Suite(.ownThread) struct ReportTests {
    private func start(_ number: Int, _ host: String, _ governor: inout some Governor) {
        let candidate = TransferCandidate(host: host, importance: .visible, kind: .thumbnail)
        governor.noteStart(of: number, candidate, over: .any, at: 0)
    }

    @Test func nothingIsKnownAtFirst() {
        var governor = AdaptiveGovernor()
        #expect(governor.report.quality == nil)
        start(1, "h", &governor)
        governor.note(.connected(0.1), of: 1, at: 0.1)
        #expect(governor.report.quality == nil && governor.report.limit == 64)
        #expect((1..<64).contains(governor.report.width))
    }

    @Test func filesOfThisMachineComeOverNoNetwork() {
        var governor = AdaptiveGovernor()
        start(1, "", &governor)
        governor.note(.received(1_000_000), of: 1, at: 0.1)
        governor.note(.ended(.completed), of: 1, at: 0.2)
        #expect(governor.report == GovernorReport())
    }

    @Test func aFixedNumberSaysWhetherAnybodyIsThere() {
        var governor = FixedGovernor(width: 4)
        #expect(governor.report.quality == nil && governor.report.limit == 4)
        for number in 1...3 {
            start(number, "h", &governor)
            #expect(governor.report.quality == nil)
            governor.note(.ended(.unreachable), of: number, at: 0)
        }
        #expect(governor.report.unreachable == ["h"] && governor.report.missed == ["h"])
        // Another one answers, so that there is a network.
        start(4, "other", &governor)
        governor.note(.connected(0.1), of: 4, at: 1)
        #expect(governor.report.quality == nil && governor.report.unreachable == ["h"])
        start(5, "h", &governor)
        governor.note(.answered(wait: 0.1, length: nil, isShared: false), of: 5, at: 2)
        #expect(governor.report.unreachable.isEmpty)
    }

    @Test("A host is known to be missed after one attempt, and nothing good is said of its network")
    func missed() {
        var governor = AdaptiveGovernor()
        start(1, "h", &governor)
        governor.note(.received(40_000), of: 1, at: 0.1)
        governor.note(.ended(.completed), of: 1, at: 0.2)
        _ = governor.advance(to: 0.3) { _ in 0 }
        #expect(governor.report.quality != nil && governor.report.missed.isEmpty)
        start(2, "h", &governor)
        governor.note(.ended(.unreachable), of: 2, at: 5)
        #expect(
            governor.report.quality == nil && governor.report.missed == ["h"] && governor.report.unreachable.isEmpty)
    }

    @Test("Nothing is said to be good before it is measured")
    func unmeasured() {
        var governor = AdaptiveGovernor()
        start(1, "h", &governor)
        governor.note(.answered(wait: 0.1, length: nil, isShared: false), of: 1, at: 0.1)
        _ = governor.advance(to: 0.3) { _ in 0 }
        #expect(governor.report.quality == nil)
    }

    @Test func anotherNetworkIsAnotherMatter() {
        var governor = FixedGovernor(width: 4)
        for number in 1...3 {
            start(number, "h", &governor)
            governor.note(.ended(.unreachable), of: number, at: 0)
        }
        governor.noteNetwork(at: 1)
        #expect(governor.report.quality == nil && governor.report.unreachable.isEmpty)
    }
}
