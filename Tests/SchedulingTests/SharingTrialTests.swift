import TestSupport
import Testing

@testable import Scheduling

/// When one connection for all is left.
@Suite(.ownThread) struct SharingTrialTests {
    private var trial = SharingTrial()
    private var delivered = 0.0
    private var now = 0.0
    /// When it was left.
    private var leaving: Double?

    /// So many bytes a second come until then: over the shared connection, and in a trial.
    private mutating func bring(_ shared: Double, inTrial tried: Double, until end: Double, hasLosses: Bool) {
        while now < end {
            now += 0.05
            delivered += 0.05 * (trial.wantsAnother ? tried : shared)
            let isLeft = trial.advance(
                to: now, isSettled: true, rate: shared, delivered: delivered, hasLosses: hasLosses, isLossy: false,
                work: 1e8, roundTrip: 0.04)
            if isLeft { leaving = leaving ?? now }
        }
    }

    @Test mutating func whatBringsNoMoreIsNotTriedAgainForAMinute() {
        bring(1e6, inTrial: 1.1e6, until: 60, hasLosses: false)
        #expect(leaving == nil)
        bring(1e6, inTrial: 1.3e6, until: 63, hasLosses: false)
        #expect(leaving.map { (60.5...62).contains($0) } == true)
    }

    @Test mutating func withLossesItIsLeftWhereOthersBringAsMuch() {
        bring(1e6, inTrial: 1e6, until: 2, hasLosses: true)
        #expect(leaving.map { $0 < 1 } == true)
    }

    /// That is the link itself, which has become narrower.
    @Test mutating func whatComesDownWithTheLinkIsTriedAndKept() {
        bring(1e6, inTrial: 1.1e6, until: 1, hasLosses: false)
        bring(4e5, inTrial: 4e5, until: 10, hasLosses: false)
        #expect(leaving == nil)
    }
}
