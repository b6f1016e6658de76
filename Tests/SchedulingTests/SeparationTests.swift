import Model
import TestSupport
import Testing

@testable import Scheduling

/// What one host is to another, to the governor.
@Suite(.ownThread) struct SeparationTests {
    private var governor = AdaptiveGovernor()

    private func photo(of host: String, _ importance: Importance = .near) -> TransferCandidate {
        TransferCandidate(host: host, importance: importance, kind: .photo)
    }

    private func thumbnail(of host: String) -> TransferCandidate {
        TransferCandidate(host: host, importance: .near, kind: .thumbnail)
    }

    /// A photo of that host comes at ten kilobytes a second, until that is known.
    private mutating func bringSlowly(_ number: Int, from host: String) {
        governor.noteStart(of: number, photo(of: host), over: .any, at: 0)
        governor.note(.answered(wait: 0.1, length: 400_000, isShared: false), of: number, at: 0.1)
        for second in 1...4 {
            governor.note(.received(10_000 * Double(second)), of: number, at: Double(second))
            _ = governor.advance(to: Double(second)) { _ in 1 }
        }
    }

    @Test mutating func aSlowHostHoldsUpItselfAlone() {
        bringSlowly(1, from: "slow")
        #expect(governor.report.quality == .poor)
        #expect(governor.admit(photo(of: "slow"), at: 4) == .hostIsBusy)
        #expect(governor.admit(photo(of: "other"), at: 4) == .now(.any))
        #expect(governor.admit(thumbnail(of: "other"), at: 4) == .now(.any))
    }

    /// Its link was known, and it would fill that for long; but nobody is there any more.
    @Test mutating func whatIsTriedInVainHoldsNobodyBack() {
        bringSlowly(1, from: "gone")
        governor.noteStart(of: 2, thumbnail(of: "other"), over: .any, at: 4)
        governor.noteStart(of: 3, photo(of: "gone", .lookedAt), over: .any, at: 4)
        #expect(governor.areOthersHeldBack)
        #expect(governor.admit(thumbnail(of: "other"), at: 4) == .linkIsBusy)
        for second in 5...10 {
            governor.note(.received(1_000 * Double(second)), of: 2, at: Double(second))
            _ = governor.advance(to: Double(second)) { _ in 1 }
        }
        #expect(!governor.areOthersHeldBack)
        #expect(governor.admit(thumbnail(of: "other"), at: 10) == .now(.any))
        #expect(governor.admit(photo(of: "other"), at: 10) == .now(.any))
        // It is back, and is waited for.
        governor.note(.received(50_000), of: 1, at: 10)
        #expect(governor.areOthersHeldBack)
    }

    /// Of a host that nothing is known of yet, no more is known while it does not answer.
    @Test mutating func whatIsWaitedForHoldsUpPhotosAndNotThumbnailsBehindThem() {
        governor.noteStart(of: 1, photo(of: "new", .lookedAt), over: .any, at: 0)
        #expect(governor.admit(photo(of: "other"), at: 0) == .hostIsBusy)
        #expect(governor.admit(thumbnail(of: "third"), at: 0) == .now(.any))
    }

    /// A list may name a host for each of its pictures.
    @Test mutating func hostsThatHaveHadNothingToDoForLongAreForgotten() {
        governor.noteStart(of: 1, thumbnail(of: "busy"), over: .any, at: 0)
        for number in 2...4 {
            governor.noteStart(of: number, thumbnail(of: "gone"), over: .any, at: 0)
            governor.note(.ended(.unreachable), of: number, at: 0)
        }
        bring(5, from: "strict", at: 0)
        governor.noteComplaint(of: "strict", silence: 0, at: 0)
        for number in 6...1_000 { bring(number, from: "\(number)", at: Double(number)) }
        #expect(governor.hosts.count <= 256)
        for name in ["busy", "gone", "strict", "1000", "900"] { #expect(governor.hosts[name] != nil, "\(name)") }
        #expect(governor.admit(thumbnail(of: "gone"), at: 0.5) == .hostIsBusy)
        // And what they carry is remembered.
        #expect(governor.history["500"] == nil && governor.history.text.split(separator: "\n").count == 64)
        // Who is only asked about is none of them.
        let count = governor.hosts.count
        _ = governor.admit(thumbnail(of: "another"), at: 2_000)
        #expect(governor.hosts.count == count)
    }

    /// Nor does it matter to anybody that so many could not be reached.
    @Test mutating func hostsThatAreGoneAreForgottenWhenThereAreVeryMany() {
        for number in 0..<3_000 {
            for attempt in 0..<3 {
                let (transfer, time) = (number * 3 + attempt, Double(number))
                governor.noteStart(of: transfer, thumbnail(of: "gone\(number)"), over: .any, at: time)
                governor.note(.ended(.unreachable), of: transfer, at: time)
            }
        }
        #expect(governor.hosts.count <= 1_024)
        #expect(governor.hosts["gone2999"]?.reachability.isOffline == true && governor.hosts["gone0"] == nil)
    }

    /// A list may name a host for each of its pictures, and each would be connected to.
    @Test mutating func noMoreThanSoManyRunAtOnceWhateverHostsThereAre() {
        for number in 0..<128 {
            #expect(governor.admit(thumbnail(of: "\(number)"), at: 0) == .now(.any))
            governor.noteStart(of: number, thumbnail(of: "\(number)"), over: .any, at: 0)
        }
        #expect(governor.admit(thumbnail(of: "another"), at: 0) == .linkIsBusy)
        #expect(governor.admit(photo(of: "another", .lookedAt), at: 0) == .now(.any))
        governor.note(.ended(.completed), of: 5, at: 1)
        #expect(governor.admit(thumbnail(of: "another"), at: 1) == .now(.any))
    }

    @Test("Where there are descriptors for few transfers no more run at once, but for what is looked at")
    mutating func narrow() {
        governor = AdaptiveGovernor(width: 3)
        for number in 0..<3 {
            #expect(governor.admit(thumbnail(of: "\(number)"), at: 0) == .now(.any))
            governor.noteStart(of: number, thumbnail(of: "\(number)"), over: .any, at: 0)
        }
        #expect(governor.admit(thumbnail(of: "another"), at: 0) == .linkIsBusy)
        #expect(governor.admit(photo(of: "another", .lookedAt), at: 0) == .now(.any))
    }

    private mutating func bring(_ number: Int, from host: String, at time: Double) {
        governor.noteStart(of: number, thumbnail(of: host), over: .any, at: time)
        governor.note(.answered(wait: 0.1, length: 12_000, isShared: false), of: number, at: time + 0.1)
        governor.note(.received(12_000), of: number, at: time + 0.2)
        governor.note(.ended(.completed), of: number, at: time + 0.2)
    }
}
