import Model
import TestSupport
import Testing

@testable import Scheduling

/// Urgent transfers of a host that accepts few at once.
@Suite(.ownThread) struct HostCapTests {
    private var governor = AdaptiveGovernor()

    private func candidate(_ kind: TransferKind, _ importance: Importance) -> TransferCandidate {
        TransferCandidate(host: "strict", importance: importance, kind: kind)
    }

    /// Complains until the host's limit is reached, and starts as many transfers.
    private mutating func fill(_ limit: Int, with kind: TransferKind) {
        governor.recordStart(of: 100, candidate(.thumbnail, .visible), over: .any, at: 0)
        governor.record(.ended(.completed), of: 100, at: 1)
        for time in 1...6 where governor.report.limit > limit {
            governor.recordComplaint(of: "strict", silence: 0, at: Double(time))
        }
        for number in 1...limit {
            governor.recordStart(of: number, candidate(kind, .near), over: .any, at: 7)
            governor.record(.answered(wait: 0.1, length: 9e6, isShared: false), of: number, at: 7.1)
        }
    }

    private mutating func advance(to now: Double) -> [Int] { governor.advance(to: now) { _ in 1 } }

    @Test("At the limit, an opened photo interrupts a less important one", arguments: [1, 2])
    mutating func openedPhoto(limit: Int) {
        fill(limit, with: .photo)
        #expect(advance(to: 7.2).isEmpty)
        #expect(governor.admit(candidate(.photo, .lookedAt), at: 7.2) == .hostIsBusy)
        #expect(advance(to: 7.3) == [1])
        // Until it has ended, no other is interrupted.
        #expect(governor.admit(candidate(.photo, .lookedAt), at: 7.3) == .hostIsBusy)
        #expect(advance(to: 7.4).isEmpty)
        governor.record(.ended(.cancelled), of: 1, at: 7.5)
        #expect(governor.admit(candidate(.photo, .lookedAt), at: 7.5) == .now(.any))
    }

    @Test("At the limit, thumbnails are not interrupted")
    mutating func thumbnails() {
        fill(1, with: .thumbnail)
        #expect(governor.admit(candidate(.photo, .lookedAt), at: 7.2) == .hostIsBusy)
        #expect(advance(to: 7.3).isEmpty)
    }

    @Test("At the limit, an opened photo is not interrupted for a list")
    mutating func list() {
        fill(1, with: .photo)
        governor.record(.importance(.lookedAt), of: 1, at: 7.2)
        _ = advance(to: 7.2)
        #expect(governor.admit(candidate(.list, .list), at: 7.2) == .hostIsBusy)
        #expect(advance(to: 7.3).isEmpty)
    }

    @Test("During a host's silence only urgent transfers start")
    mutating func silence() {
        let waiting: (String) -> Int = { _ in 5 }
        fill(4, with: .thumbnail)
        for number in 1...4 { governor.record(.ended(.completed), of: number, at: 8) }
        governor.recordComplaint(of: "strict", silence: 30, at: 10)
        governor.recordComplaint(of: "strict", silence: 5, at: 11)
        _ = governor.advance(to: 12, waiting: waiting)
        #expect(governor.report.silences == ["strict": 40])
        #expect(governor.admit(candidate(.thumbnail, .visible), at: 12) == .hostIsBusy)
        let other = TransferCandidate(host: "other", importance: .visible, kind: .thumbnail)
        #expect(governor.admit(other, at: 12) == .now(.any))
        #expect(governor.admit(candidate(.photo, .lookedAt), at: 12) == .now(.any))
        // A network change does not end the silence.
        governor.recordNetworkChange(at: 12)
        #expect(governor.admit(candidate(.thumbnail, .visible), at: 12) == .hostIsBusy)
        // The next advance is due at the end of the silence.
        #expect(governor.timeUntilAdvance(at: 12, waiting: waiting) == 28)
        #expect(governor.admit(candidate(.thumbnail, .visible), at: 40) == .now(.any))
        #expect(governor.timeUntilAdvance(at: 40, waiting: waiting) == nil)
        governor.recordComplaint(of: "strict", silence: 30, at: 41)
        governor.endSilence(of: "strict")
        #expect(governor.admit(candidate(.thumbnail, .visible), at: 42) == .now(.any))
    }
}
