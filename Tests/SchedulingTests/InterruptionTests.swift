import Model
import TestSupport
import Testing

@testable import Scheduling

/// Which transfers are interrupted when the user opens a photo.
@Suite(.ownThread) struct InterruptionTests {
    private var governor = AdaptiveGovernor()

    /// Measures a link that carries so many bytes a second, with a round trip of 0.1 s.
    private mutating func measure(_ rate: Double) {
        start(100, .photo, .near, at: 1)
        answer(100, length: 4 * rate, at: 1.1)
        for second in 2...5 {
            governor.record(.received(rate * Double(second - 1)), of: 100, at: Double(second))
            _ = advance(to: Double(second))
        }
        governor.record(.ended(.completed), of: 100, at: 5)
    }

    private mutating func start(
        _ number: Int, _ kind: TransferKind = .thumbnail, _ importance: Importance = .rest, at now: Double
    ) {
        governor.recordStart(
            of: number, TransferCandidate(host: "h", importance: importance, kind: kind), over: .any, at: now)
    }

    private mutating func answer(_ number: Int, length: Double, at now: Double) {
        governor.record(.answered(wait: 0.1, length: length, isShared: false), of: number, at: now)
    }

    private mutating func advance(to now: Double) -> [Int] { governor.advance(to: now) { _ in 1 } }

    @Test("The largest transfers are interrupted until the rest drains soon, once per photo")
    mutating func drains() {
        measure(100_000)
        for (number, length) in [(1, 12_000.0), (2, 400_000), (3, 2_000)] {
            start(number, length > 50_000 ? .photo : .thumbnail, at: 6)
            answer(number, length: length, at: 6.1)
        }
        #expect(advance(to: 7).isEmpty)
        start(4, .photo, .lookedAt, at: 7)
        #expect(advance(to: 7) == [2])
        #expect(advance(to: 8).isEmpty)
    }

    @Test("A running photo that the user then opens interrupts others, too, and an opened one does so once")
    mutating func openedLater() {
        measure(100_000)
        for (number, importance) in [(1, Importance.rest), (2, .near)] {
            start(number, .photo, importance, at: 6)
            answer(number, length: 400_000, at: 6.1)
        }
        #expect(advance(to: 7).isEmpty)
        governor.record(.importance(.lookedAt), of: 2, at: 7)
        #expect(advance(to: 7.1) == [1])
        governor.record(.importance(.lookedAt), of: 2, at: 7.2)
        #expect(advance(to: 7.3).isEmpty)
    }

    @Test("On a fast link, thumbnails are not interrupted")
    mutating func fastLink() {
        measure(2_000_000)
        start(1, at: 6)
        answer(1, length: 12_000, at: 6.1)
        start(2, .photo, .lookedAt, at: 9)
        #expect(governor.report.quality == .good)
        #expect(advance(to: 9).isEmpty)
    }
}
