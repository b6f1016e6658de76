import Model
import TestSupport
import Testing

@testable import Scheduling

/// The report on the network while little is known.
@Suite(.ownThread) struct ReportTests {
    private func start(_ number: Int, _ host: String, _ governor: inout some Governor) {
        let candidate = TransferCandidate(host: host, importance: .visible, kind: .thumbnail)
        governor.recordStart(of: number, candidate, over: .any, at: 0)
    }

    @Test("Before a measurement, the report has the limit but no quality")
    func beginning() {
        var governor = AdaptiveGovernor()
        #expect(governor.report.quality == nil)
        start(1, "h", &governor)
        governor.record(.connected(0.1), of: 1, at: 0.1)
        #expect(governor.report.quality == nil && governor.report.limit == 64)
        #expect((1..<64).contains(governor.report.width))
    }

    @Test("Files of this machine change nothing in the report")
    func localFiles() {
        var governor = AdaptiveGovernor()
        start(1, "", &governor)
        governor.record(.received(1_000_000), of: 1, at: 0.1)
        governor.record(.ended(.completed), of: 1, at: 0.2)
        #expect(governor.report == GovernorReport())
    }

    @Test("A fixed governor reports unreachable hosts until they answer")
    func fixedGovernor() {
        var governor = FixedGovernor(width: 4)
        #expect(governor.report.quality == nil && governor.report.limit == 4)
        for number in 1...3 {
            start(number, "h", &governor)
            #expect(governor.report.quality == nil)
            governor.record(.ended(.unreachable), of: number, at: 0)
        }
        #expect(governor.report.unreachable == ["h"] && governor.report.missed == ["h"])
        // Another host answers, so there is a network.
        start(4, "other", &governor)
        governor.record(.connected(0.1), of: 4, at: 1)
        #expect(governor.report.quality == nil && governor.report.unreachable == ["h"])
        start(5, "h", &governor)
        governor.record(.answered(wait: 0.1, length: nil, isShared: false), of: 5, at: 2)
        #expect(governor.report.unreachable.isEmpty)
    }

    @Test("A host that one attempt missed is reported, and its quality is not")
    func missed() {
        var governor = AdaptiveGovernor()
        start(1, "h", &governor)
        governor.record(.received(40_000), of: 1, at: 0.1)
        governor.record(.ended(.completed), of: 1, at: 0.2)
        _ = governor.advance(to: 0.3) { _ in 0 }
        #expect(governor.report.quality != nil && governor.report.missed.isEmpty)
        start(2, "h", &governor)
        governor.record(.ended(.unreachable), of: 2, at: 5)
        #expect(
            governor.report.quality == nil && governor.report.missed == ["h"] && governor.report.unreachable.isEmpty)
    }

    /// Runs a transfer that takes a tenth of a second, after those with lower numbers. Half of its bytes come earlier.
    private func transfer(_ number: Int, half: Double, _ governor: inout AdaptiveGovernor, waiting: Int) {
        let candidate = TransferCandidate(host: "h", importance: .visible, kind: .thumbnail)
        let start = 0.1 * Double(number)
        governor.recordStart(of: number, candidate, over: .any, at: start)
        if number == 0 { governor.record(.connected(0.02), of: number, at: 0.02) }
        governor.record(.received(half), of: number, at: start + 0.05)
        _ = governor.advance(to: start + 0.06) { _ in waiting }
        governor.record(.received(2 * half), of: number, at: start + 0.1)
        governor.record(.ended(.completed), of: number, at: start + 0.1)
        _ = governor.advance(to: start + 0.1) { _ in waiting }
    }

    @Test("Slow transfers while nothing waits say nothing about the bandwidth")
    func demand() throws {
        var governor = AdaptiveGovernor()
        transfer(0, half: 1_000_000, &governor, waiting: 1)
        let bandwidth = try #require(governor.report.bandwidth)
        for number in 1...60 { transfer(number, half: 500, &governor, waiting: 0) }
        #expect(governor.report.bandwidth == bandwidth)
        for number in 61...120 { transfer(number, half: 500, &governor, waiting: 1) }
        #expect(try #require(governor.report.bandwidth) < bandwidth / 10)
    }

    @Test("The quality changes at most every two seconds")
    func steadyQuality() {
        var governor = AdaptiveGovernor()
        transfer(0, half: 2_000_000, &governor, waiting: 1)
        #expect(governor.report.quality == .good)
        for number in 1...40 {
            transfer(number, half: 1_000, &governor, waiting: 1)
            // The first judgement was after a tenth of a second.
            if number < 20 { #expect(governor.report.quality == .good, "transfer \(number)") }
            if number > 21 { #expect(governor.report.quality == .poor, "transfer \(number)") }
        }
    }

    @Test("An answer without a body gives no quality")
    func unmeasured() {
        var governor = AdaptiveGovernor()
        start(1, "h", &governor)
        governor.record(.answered(wait: 0.1, length: nil, isShared: false), of: 1, at: 0.1)
        _ = governor.advance(to: 0.3) { _ in 0 }
        #expect(governor.report.quality == nil)
    }

    @Test("A network change clears a fixed governor's failures")
    func networkChange() {
        var governor = FixedGovernor(width: 4)
        for number in 1...3 {
            start(number, "h", &governor)
            governor.record(.ended(.unreachable), of: number, at: 0)
        }
        governor.recordNetworkChange(at: 1)
        #expect(governor.report.quality == nil && governor.report.unreachable.isEmpty)
    }
}
