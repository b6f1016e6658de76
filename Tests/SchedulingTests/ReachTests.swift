import Model
import TestSupport
import Testing

@testable import Scheduling

/// What the governor does while a host cannot be reached.
@Suite(.ownThread) struct ReachTests {
    private var governor = AdaptiveGovernor()
    private let thumbnail = TransferCandidate(host: "h", importance: .visible, kind: .thumbnail)
    private let photo = TransferCandidate(host: "h", importance: .lookedAt, kind: .photo)
    private let list = TransferCandidate(host: "h", importance: .list, kind: .list)

    init() {
        // Three that find nobody are enough to know it.
        for number in 1...3 {
            governor.noteStart(of: number, thumbnail, over: .any, at: 0)
            governor.note(.ended(.unreachable), of: number, at: 0)
        }
    }

    @Test mutating func oneProbeAtATime() {
        #expect(governor.report.quality == nil && governor.report.unreachable == ["h"])
        #expect(governor.admit(thumbnail, at: 0.9) == .hostIsBusy)
        #expect(governor.admit(thumbnail, at: 1) == .now(.any))
        #expect(governor.admit(thumbnail, at: 2.9) == .hostIsBusy)
        #expect(governor.admit(thumbnail, at: 3) == .now(.any))
        governor.noteNetwork(at: 3)
        #expect(governor.admit(thumbnail, at: 3) == .now(.any))
    }

    /// He may have heard that the server is back. But twenty galleries of it need not all find out that it is not.
    @Test mutating func whatTheUserWaitsForIsTriedAtOnce() {
        for number in 4...5 {
            let candidate = number == 4 ? photo : list
            #expect(governor.admit(candidate, at: 0.1) == .now(.any))
            governor.noteStart(of: number, candidate, over: .any, at: 0.1)
        }
        #expect(governor.admit(list, at: 0.2) == .hostIsBusy)
        governor.note(.ended(.unreachable), of: 4, at: 0.3)
        #expect(governor.admit(photo, at: 0.3) == .now(.any))
        #expect(governor.admit(thumbnail, at: 0.3) == .hostIsBusy)
    }

    @Test mutating func itIsLookedAtAgainOnlyIfSomethingWaits() {
        #expect(governor.pace(at: 0) { _ in 0 } == nil && governor.pace(at: 100) { _ in 0 } == nil)
        #expect(governor.pace(at: 0.25) { $0 == "h" ? 1 : 0 } == 0.75)
        #expect(governor.pace(at: 0.25) { $0 == "other" ? 1 : 0 } == nil, "nobody waits for the one that is gone")
    }

    /// A file of this machine is no use of the network, and nothing has to make room for it.
    @Test mutating func filesMakeNobodyWait() {
        let file = TransferCandidate(host: "", importance: .lookedAt, kind: .photo)
        governor.noteNetwork(at: 0)
        governor.noteStart(of: 9, file, over: .any, at: 0)
        #expect(governor.admit(thumbnail, at: 0) == .now(.any))
        #expect(!governor.areOthersHeldBack && governor.advance(to: 1, waiting: { _ in 1 }).isEmpty)
    }
}
