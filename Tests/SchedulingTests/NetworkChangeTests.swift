import Model
import TestSupport
import Testing

@testable import Scheduling

/// From one network to another.
@Suite(.ownThread) struct NetworkChangeTests {
    private var governor = AdaptiveGovernor()
    private let photo = TransferCandidate(host: "h", importance: .near, kind: .photo)

    /// At ten kilobytes a second, for four seconds.
    init() {
        governor.noteStart(of: 1, photo, over: .any, at: 0)
        governor.note(.answered(wait: 0.6, length: 4_000_000, isShared: false), of: 1, at: 0.6)
        for second in stride(from: 2.0, through: 6, by: 2) {
            governor.note(.received(10_000 * second), of: 1, at: second)
            _ = governor.advance(to: second) { _ in 1 }
        }
        governor.noteComplaint(of: "h", silence: 0, at: 6)
    }

    @Test mutating func whatIsKnownIsOfTheNetworkBefore() {
        let before = governor.report
        #expect(before.quality == .poor && before.limit == 32 && before.bandwidth != nil && before.roundTrip == 0.6)
        #expect(governor.admit(photo, at: 6) == .hostIsBusy)
        governor.noteNetwork(at: 6)
        let after = governor.report
        #expect(after.quality == nil && after.limit == 64 && after.bandwidth == nil && after.roundTrip == nil)
        _ = governor.advance(to: 6) { _ in 1 }
        #expect(governor.admit(photo, at: 6) == .now(.any))
    }

    /// What goes on from there is measured from there.
    @Test mutating func whatGoesOnIsMeasuredOnTheNewOne() throws {
        governor.noteNetwork(at: 6)
        governor.note(.received(1_060_000), of: 1, at: 7)
        #expect(try #require(governor.report.bandwidth) == 1e6)
    }
}
