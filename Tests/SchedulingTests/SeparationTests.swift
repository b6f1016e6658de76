import Model
import TestSupport
import Testing

@testable import Scheduling

/// How the transfers of one host affect those of others.
@Suite(.ownThread) struct SeparationTests {
    private var governor = AdaptiveGovernor()

    private func photo(of host: String, _ importance: Importance = .near) -> TransferCandidate {
        TransferCandidate(host: host, importance: importance, kind: .photo)
    }

    private func thumbnail(of host: String) -> TransferCandidate {
        TransferCandidate(host: host, importance: .near, kind: .thumbnail)
    }

    /// Receives a photo at ten kilobytes a second, until the bandwidth is known.
    private mutating func receiveSlowly(_ number: Int, from host: String) {
        governor.recordStart(of: number, photo(of: host), over: .any, at: 0)
        governor.record(.answered(wait: 0.1, length: 400_000, isShared: false), of: number, at: 0.1)
        for second in 1...4 {
            governor.record(.received(10_000 * Double(second)), of: number, at: Double(second))
            _ = governor.advance(to: Double(second)) { _ in 1 }
        }
    }

    @Test("A slow host delays only its own transfers")
    mutating func slowHost() {
        receiveSlowly(1, from: "slow")
        #expect(governor.report.quality == .poor)
        #expect(governor.admit(photo(of: "slow"), at: 4) == .hostIsBusy)
        #expect(governor.admit(photo(of: "other"), at: 4) == .now(.any))
        #expect(governor.admit(thumbnail(of: "other"), at: 4) == .now(.any))
    }

    @Test("A photo of an unreachable host holds no other transfer back")
    mutating func unreachableHost() {
        receiveSlowly(1, from: "gone")
        governor.recordStart(of: 2, thumbnail(of: "other"), over: .any, at: 4)
        governor.recordStart(of: 3, photo(of: "gone", .lookedAt), over: .any, at: 4)
        #expect(governor.areOthersHeldBack)
        #expect(governor.admit(thumbnail(of: "other"), at: 4) == .linkIsBusy)
        for second in 5...10 {
            governor.record(.received(1_000 * Double(second)), of: 2, at: Double(second))
            _ = governor.advance(to: Double(second)) { _ in 1 }
        }
        #expect(!governor.areOthersHeldBack)
        #expect(governor.admit(thumbnail(of: "other"), at: 10) == .now(.any))
        #expect(governor.admit(photo(of: "other"), at: 10) == .now(.any))
        // The host is back, and the others wait again.
        governor.record(.received(50_000), of: 1, at: 10)
        #expect(governor.areOthersHeldBack)
    }

    @Test("A photo of an unknown host holds back photos, not thumbnails")
    mutating func unknownHost() {
        governor.recordStart(of: 1, photo(of: "new", .lookedAt), over: .any, at: 0)
        #expect(governor.admit(photo(of: "other"), at: 0) == .hostIsBusy)
        #expect(governor.admit(thumbnail(of: "third"), at: 0) == .now(.any))
    }

    /// A list may name a host for each of its pictures.
    @Test("Idle hosts are forgotten, except for their capacities")
    mutating func idleHosts() {
        governor.recordStart(of: 1, thumbnail(of: "busy"), over: .any, at: 0)
        for number in 2...4 {
            governor.recordStart(of: number, thumbnail(of: "gone"), over: .any, at: 0)
            governor.record(.ended(.unreachable), of: number, at: 0)
        }
        receive(5, from: "strict", at: 0)
        governor.recordComplaint(of: "strict", silence: 0, at: 0)
        for number in 6...1_000 { receive(number, from: "\(number)", at: Double(number)) }
        #expect(governor.hosts.count <= 256)
        for name in ["busy", "gone", "strict", "1000", "900"] { #expect(governor.hosts[name] != nil, "\(name)") }
        #expect(governor.admit(thumbnail(of: "gone"), at: 0.5) == .hostIsBusy)
        // Their capacities are remembered.
        #expect(governor.history["500"] == nil && governor.history.text.split(separator: "\n").count == 64)
        // An admission alone adds no host.
        let count = governor.hosts.count
        _ = governor.admit(thumbnail(of: "another"), at: 2_000)
        #expect(governor.hosts.count == count)
    }

    @Test("Very many unreachable hosts are forgotten")
    mutating func manyUnreachableHosts() {
        for number in 0..<3_000 {
            for attempt in 0..<3 {
                let (transfer, time) = (number * 3 + attempt, Double(number))
                governor.recordStart(of: transfer, thumbnail(of: "gone\(number)"), over: .any, at: time)
                governor.record(.ended(.unreachable), of: transfer, at: time)
            }
        }
        #expect(governor.hosts.count <= 1_024)
        #expect(governor.hosts["gone2999"]?.reachability.isOffline == true && governor.hosts["gone0"] == nil)
    }

    /// A list may name a host for each of its pictures.
    @Test("At most 128 transfers of all hosts run, except for urgent ones")
    mutating func width() {
        for number in 0..<128 {
            #expect(governor.admit(thumbnail(of: "\(number)"), at: 0) == .now(.any))
            governor.recordStart(of: number, thumbnail(of: "\(number)"), over: .any, at: 0)
        }
        #expect(governor.admit(thumbnail(of: "another"), at: 0) == .linkIsBusy)
        #expect(governor.admit(photo(of: "another", .lookedAt), at: 0) == .now(.any))
        governor.record(.ended(.completed), of: 5, at: 1)
        #expect(governor.admit(thumbnail(of: "another"), at: 1) == .now(.any))
    }

    @Test("With few file descriptors, fewer transfers run, except for urgent ones")
    mutating func narrow() {
        governor = AdaptiveGovernor(width: 3)
        for number in 0..<3 {
            #expect(governor.admit(thumbnail(of: "\(number)"), at: 0) == .now(.any))
            governor.recordStart(of: number, thumbnail(of: "\(number)"), over: .any, at: 0)
        }
        #expect(governor.admit(thumbnail(of: "another"), at: 0) == .linkIsBusy)
        #expect(governor.admit(photo(of: "another", .lookedAt), at: 0) == .now(.any))
    }

    private mutating func receive(_ number: Int, from host: String, at time: Double) {
        governor.recordStart(of: number, thumbnail(of: host), over: .any, at: time)
        governor.record(.answered(wait: 0.1, length: 12_000, isShared: false), of: number, at: time + 0.1)
        governor.record(.received(12_000), of: number, at: time + 0.2)
        governor.record(.ended(.completed), of: number, at: time + 0.2)
    }
}
