import TestSupport
import Testing

@testable import Scheduling

/// When a shared connection is left.
@Suite(.ownThread) struct SharingTrialTests {
    private var trial = SharingTrial()
    private var delivered = 0.0
    private var now = 0.0
    /// When it was left.
    private var leaving: Double?

    /// Delivers so many bytes a second until a time: over the shared connection, and during a trial.
    private mutating func deliver(_ shared: Double, inTrial tried: Double, until end: Double, hasLosses: Bool) {
        while now < end {
            now += 0.05
            delivered += 0.05 * (trial.wantsAnother ? tried : shared)
            let isLeft = trial.advance(
                to: now, isSettled: true, rate: shared, delivered: delivered, hasLosses: hasLosses, isLossy: hasLosses,
                work: 1e8,
                roundTrip: 0.04)
            if isLeft { leaving = leaving ?? now }
        }
    }

    @Test("After a trial without gain, the next one begins a minute later")
    mutating func pause() {
        deliver(1e6, inTrial: 1.1e6, until: 60, hasLosses: false)
        #expect(leaving == nil)
        deliver(1e6, inTrial: 1.3e6, until: 63, hasLosses: false)
        #expect(leaving.map { (60.5...62).contains($0) } == true)
    }

    @Test("After each further trial without gain, the pause is twice as long, at most an hour")
    mutating func longerPauses() {
        var begins: [Double] = []
        while begins.count < 9 {
            let wasTrying = trial.wantsAnother
            deliver(1e6, inTrial: 1.1e6, until: now + 0.05, hasLosses: false)
            if trial.wantsAnother, !wasTrying { begins.append(now) }
        }
        let pauses = zip(begins, begins.dropFirst()).map { ($1 - $0).rounded() }
        #expect(pauses == [61, 121, 241, 481, 961, 1_921, 3_601, 3_601])
    }

    @Test("With losses, each trial without gain is followed by a pause of a second")
    mutating func pauseWithLosses() {
        var trials = 0
        for step in 1...100 {
            let wasTrying = trial.wantsAnother
            deliver(1e6, inTrial: 1e5, until: 0.1 * Double(step) - 0.01, hasLosses: true)
            if trial.wantsAnother, !wasTrying { trials += 1 }
        }
        #expect(leaving == nil)
        // A trial takes 0.66 seconds.
        #expect((5...7).contains(trials), "\(trials)")
    }

    @Test("With losses, the shared connection is left if others carry as much")
    mutating func losses() {
        deliver(1e6, inTrial: 1e6, until: 2, hasLosses: true)
        #expect(leaving.map { $0 < 1 } == true)
    }
}
