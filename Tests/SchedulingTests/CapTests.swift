import Model
import TestSupport
import Testing

@testable import Scheduling

/// What the user waits for, of a host that lets few run at once.
@Suite(.ownThread) struct CapTests {
    private var governor = AdaptiveGovernor()

    private func candidate(_ kind: TransferKind, _ importance: Importance) -> TransferCandidate {
        TransferCandidate(host: "strict", importance: importance, kind: kind)
    }

    /// The host has complained until it is asked for so many at once, and so many come.
    private mutating func fill(_ limit: Int, with kind: TransferKind) {
        governor.noteStart(of: 100, candidate(.thumbnail, .visible), over: .any, at: 0)
        governor.note(.ended(.completed), of: 100, at: 1)
        for time in 1...6 where governor.report.limit > limit {
            governor.noteComplaint(of: "strict", silence: 0, at: Double(time))
        }
        for number in 1...limit {
            governor.noteStart(of: number, candidate(kind, .near), over: .any, at: 7)
            governor.note(.answered(wait: 0.1, length: 9e6, isShared: false), of: number, at: 7.1)
        }
    }

    private mutating func look(at now: Double) -> [Int] { governor.advance(to: now) { _ in 1 } }

    @Test(arguments: [1, 2]) mutating func aPhotoThatIsLookedAtDoesNotWaitForOneThatIsNot(limit: Int) {
        fill(limit, with: .photo)
        #expect(look(at: 7.2).isEmpty)
        #expect(governor.admit(candidate(.photo, .lookedAt), at: 7.2) == .hostIsBusy)
        #expect(look(at: 7.3) == [1])
        // It ends when it can, and no other one has to make room meanwhile.
        #expect(governor.admit(candidate(.photo, .lookedAt), at: 7.3) == .hostIsBusy)
        #expect(look(at: 7.4).isEmpty)
        governor.note(.ended(.cancelled), of: 1, at: 7.5)
        #expect(governor.admit(candidate(.photo, .lookedAt), at: 7.5) == .now(.any))
    }

    @Test mutating func thumbnailsAreSoonThrough() {
        fill(1, with: .thumbnail)
        #expect(governor.admit(candidate(.photo, .lookedAt), at: 7.2) == .hostIsBusy)
        #expect(look(at: 7.3).isEmpty)
    }

    @Test mutating func whatIsLookedAtMakesNoRoomForTheNext() {
        fill(1, with: .photo)
        governor.note(.importance(.lookedAt), of: 1, at: 7.2)
        _ = look(at: 7.2)
        #expect(governor.admit(candidate(.list, .list), at: 7.2) == .hostIsBusy)
        #expect(look(at: 7.3).isEmpty)
    }

    @Test mutating func whoWantsToBeLeftAloneIs() {
        let waiting: (String) -> Int = { _ in 5 }
        fill(4, with: .thumbnail)
        for number in 1...4 { governor.note(.ended(.completed), of: number, at: 8) }
        governor.noteComplaint(of: "strict", silence: 30, at: 10)
        governor.noteComplaint(of: "strict", silence: 5, at: 11)
        _ = governor.advance(to: 12, waiting: waiting)
        #expect(governor.report.silences == ["strict": 40])
        #expect(governor.admit(candidate(.thumbnail, .visible), at: 12) == .hostIsBusy)
        let other = TransferCandidate(host: "other", importance: .visible, kind: .thumbnail)
        #expect(governor.admit(other, at: 12) == .now(.any))
        #expect(governor.admit(candidate(.photo, .lookedAt), at: 12) == .now(.any))
        // Another network makes no difference.
        governor.noteNetwork(at: 12)
        #expect(governor.admit(candidate(.thumbnail, .visible), at: 12) == .hostIsBusy)
        // It looks again when that is over, and not before.
        #expect(governor.pace(at: 12, waiting: waiting) == 28)
        #expect(governor.admit(candidate(.thumbnail, .visible), at: 40) == .now(.any))
        #expect(governor.pace(at: 40, waiting: waiting) == nil)
        governor.noteComplaint(of: "strict", silence: 30, at: 41)
        governor.endSilence(of: "strict")
        #expect(governor.admit(candidate(.thumbnail, .visible), at: 42) == .now(.any))
    }
}
