import Model
import TestSupport
import Testing

@testable import Scheduling

/// The governor while a host cannot be reached.
@Suite(.ownThread) struct ReachabilityTests {
    private var governor = AdaptiveGovernor()
    private let thumbnail = TransferCandidate(host: "h", importance: .visible, kind: .thumbnail)
    private let photo = TransferCandidate(host: "h", importance: .lookedAt, kind: .photo)
    private let list = TransferCandidate(host: "h", importance: .list, kind: .list)

    init() {
        // Three failures make the host unreachable.
        for number in 1...3 {
            governor.recordStart(of: number, thumbnail, over: .any, at: 0)
            governor.record(.ended(.unreachable), of: number, at: 0)
        }
    }

    @Test("One probe runs at a time, after growing waits")
    mutating func probes() {
        #expect(governor.report.quality == nil && governor.report.unreachable == ["h"])
        #expect(governor.admit(thumbnail, at: 0.9) == .hostIsBusy)
        #expect(governor.admit(thumbnail, at: 1) == .now(.any))
        #expect(governor.admit(thumbnail, at: 2.9) == .hostIsBusy)
        #expect(governor.admit(thumbnail, at: 3) == .now(.any))
        governor.recordNetworkChange(at: 3)
        #expect(governor.admit(thumbnail, at: 3) == .now(.any))
    }

    /// The user may know that the server is back, but twenty galleries need not all try it.
    @Test("Two urgent transfers try an unreachable host at once")
    mutating func urgentTransfers() {
        for number in 4...5 {
            let candidate = number == 4 ? photo : list
            #expect(governor.admit(candidate, at: 0.1) == .now(.any))
            governor.recordStart(of: number, candidate, over: .any, at: 0.1)
        }
        #expect(governor.admit(list, at: 0.2) == .hostIsBusy)
        governor.record(.ended(.unreachable), of: 4, at: 0.3)
        #expect(governor.admit(photo, at: 0.3) == .now(.any))
        #expect(governor.admit(thumbnail, at: 0.3) == .hostIsBusy)
    }

    @Test("A probe is due only if a transfer waits for the host")
    mutating func probeWithoutWaiting() {
        #expect(
            governor.timeUntilAdvance(at: 0) { _ in 0 } == nil && governor.timeUntilAdvance(at: 100) { _ in 0 } == nil)
        #expect(governor.timeUntilAdvance(at: 0.25) { $0 == "h" ? 1 : 0 } == 0.75)
        #expect(
            governor.timeUntilAdvance(at: 0.25) { $0 == "other" ? 1 : 0 } == nil,
            "no transfer waits for the unreachable host")
    }

    @Test("Files of this machine delay no other transfer")
    mutating func localFiles() {
        let file = TransferCandidate(host: "", importance: .lookedAt, kind: .photo)
        governor.recordNetworkChange(at: 0)
        governor.recordStart(of: 9, file, over: .any, at: 0)
        #expect(governor.admit(thumbnail, at: 0) == .now(.any))
        #expect(!governor.areOthersHeldBack && governor.advance(to: 1, waiting: { _ in 1 }).isEmpty)
    }

    @Test("A transfer that starts after an idle hour does not make its host unreachable")
    func idleHour() {
        var governor = AdaptiveGovernor()
        governor.recordStart(of: 1, thumbnail, over: .any, at: 0)
        governor.record(.answered(wait: 0.1, length: 1_000, isShared: false), of: 1, at: 0.1)
        governor.record(.ended(.completed), of: 1, at: 0.2)
        governor.recordStart(of: 2, thumbnail, over: .any, at: 3_600)
        _ = governor.advance(to: 3_600.1) { _ in 0 }
        #expect(governor.report.unreachable.isEmpty)
        // It does if nothing comes.
        _ = governor.advance(to: 3_700) { _ in 0 }
        #expect(governor.report.unreachable == ["h"])
    }

    @Test("A lowered limit ends when the host becomes unreachable, but not with one failure", arguments: [1, 3])
    func loweredLimit(failures: Int) {
        var governor = AdaptiveGovernor()
        governor.recordStart(of: 1, thumbnail, over: .any, at: 0)
        governor.record(.answered(wait: 0.1, length: 1_000, isShared: false), of: 1, at: 0.1)
        governor.recordComplaint(of: "h", silence: 0, at: 0.2)
        #expect(governor.report.limit == 32)
        for number in 2..<2 + failures {
            governor.recordStart(of: number, thumbnail, over: .any, at: 0.3)
            governor.record(.ended(.unreachable), of: number, at: 0.4)
        }
        governor.record(.received(500), of: 1, at: 0.5)
        #expect(governor.report.limit == (failures < 3 ? 32 : 64))
    }
}
