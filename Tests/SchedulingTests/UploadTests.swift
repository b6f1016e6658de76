import Model
import TestSupport
import Testing

@testable import Scheduling

/// How many files the governor lets a program send at once.
@Suite(.ownThread) struct UploadTests {
    private var governor = AdaptiveGovernor()
    private var started = 0
    private var sent: [Int: Double] = [:]

    private static let size = 200_000.0

    private func candidate(_ length: Double = size) -> TransferCandidate {
        var candidate = TransferCandidate(host: "h", importance: .near, kind: .upload)
        candidate.length = length
        return candidate
    }

    /// Starts uploads while the governor admits them. Returns how many started.
    @discardableResult private mutating func start(at now: Double, _ length: Double = size) -> Int {
        let before = started
        while case .now(let way) = governor.admit(candidate(length), at: now) {
            #expect(way == Admission.Way(.unshared))
            started += 1
            sent[started] = 0
            governor.recordStart(of: started, candidate(length), over: way, at: now)
        }
        return started - before
    }

    /// Runs a line that carries a number of bytes a second, with a round trip of 0.1 s. Returns the most uploads at once.
    private mutating func run(rate: Double, until end: Double, queue: Double) -> Int {
        var (now, most) = (0.0, 0)
        var answers: [(number: Int, time: Double)] = []
        while now < end {
            start(at: now)
            most = max(most, sent.count + answers.count)
            now += 0.025
            let share = rate * 0.025 / Double(max(1, sent.count))
            for (number, bytes) in sent {
                if bytes == 0 { governor.record(.connected(0.1), of: number, at: now) }
                let next = min(bytes + share, Self.size)
                governor.record(.received(next), of: number, at: now)
                governor.record(.packets(9, disordered: 0, roundTrip: 0.1 + queue), of: number, at: now)
                sent[number] = next < Self.size ? next : nil
                if next >= Self.size { answers.append((number, now + 0.1)) }
            }
            for (number, _) in answers.filter({ $0.time <= now }) {
                governor.record(.answered(wait: 0.1, length: 0, isShared: false), of: number, at: now)
                governor.record(.packets(140, disordered: 0, roundTrip: 0.1 + queue), of: number, at: now)
                governor.record(.ended(.completed), of: number, at: now)
            }
            answers.removeAll { $0.time <= now }
            _ = governor.advance(to: now) { _ in 1_000 }
        }
        return sent.count + answers.count
    }

    @Test("Uploads start as a number of files, because the length is known")
    mutating func beginning() {
        #expect(start(at: 0) == 8)
        var small = UploadTests()
        #expect(small.start(at: 0, 10_000) == 64)
    }

    @Test("A slow line gets few uploads, and a fast line gets many")
    mutating func lines() {
        var slow = UploadTests()
        #expect((1...3).contains(slow.run(rate: 50_000, until: 60, queue: 0.2)))
        var fast = UploadTests()
        #expect((20...64).contains(fast.run(rate: 25_000_000, until: 10, queue: 0)))
    }
}
