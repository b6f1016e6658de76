import Model
import TestSupport
import Testing

@testable import Scheduling

/// The governor changes from one network to another.
@Suite(.ownThread) struct NetworkChangeTests {
    private var governor = AdaptiveGovernor()
    private let photo = TransferCandidate(host: "h", importance: .near, kind: .photo)

    /// Receives ten kilobytes a second for four seconds.
    init() {
        governor.recordStart(of: 1, photo, over: .any, at: 0)
        governor.record(.answered(wait: 0.6, length: 4_000_000, isShared: false), of: 1, at: 0.6)
        for second in stride(from: 2.0, through: 6, by: 2) {
            governor.record(.received(10_000 * second), of: 1, at: second)
            _ = governor.advance(to: second) { _ in 1 }
        }
        governor.recordComplaint(of: "h", silence: 0, at: 6)
    }

    @Test("A network change discards the measurements")
    mutating func measurements() {
        let before = governor.report
        #expect(before.quality == .poor && before.limit == 32 && before.bandwidth != nil && before.roundTrip == 0.6)
        #expect(governor.admit(photo, at: 6) == .hostIsBusy)
        governor.recordNetworkChange(at: 6)
        let after = governor.report
        #expect(after.quality == nil && after.limit == 64 && after.bandwidth == nil && after.roundTrip == nil)
        _ = governor.advance(to: 6) { _ in 1 }
        #expect(governor.admit(photo, at: 6) == .now(.any))
    }

    @Test("Running transfers are measured from the network change on")
    mutating func runningTransfers() throws {
        governor.recordNetworkChange(at: 6)
        governor.record(.received(1_060_000), of: 1, at: 7)
        #expect(try #require(governor.report.bandwidth) == 1e6)
    }
}
