import Model
import TestSupport
import Testing

@testable import Scheduling

/// What makes room for a photo that somebody opens.
@Suite(.ownThread) struct RoomTests {
    private var governor = AdaptiveGovernor()

    /// A link that brings so many bytes a second.
    private mutating func measure(_ rate: Double) {
        start(100, .photo, .near, at: 1)
        governor.note(.answered(wait: 0.1, length: 4 * rate, isShared: false), of: 100, at: 1.1)
        for second in 2...5 {
            governor.note(.received(rate * Double(second - 1)), of: 100, at: Double(second))
            _ = look(at: Double(second))
        }
        governor.note(.ended(.completed), of: 100, at: 5)
    }

    private mutating func start(
        _ number: Int, _ kind: TransferKind = .thumbnail, _ importance: Importance = .rest, at now: Double
    ) {
        governor.noteStart(
            of: number, TransferCandidate(host: "h", importance: importance, kind: kind), over: .any, at: now)
    }

    private mutating func look(at now: Double) -> [Int] { governor.advance(to: now) { _ in 1 } }

    /// Its packets were lost, and come once more when nobody expects them.
    @Test mutating func onASlowLineWhatHasBeenLostIsNotSentBesideThePhoto() {
        measure(10_000)
        start(1, at: 6)
        start(2, at: 6)
        governor.note(.answered(wait: 0.1, length: 12_000, isShared: false), of: 1, at: 6.1)
        governor.note(.received(4_000), of: 1, at: 7.2)
        governor.note(.answered(wait: 0.1, length: 12_000, isShared: false), of: 2, at: 6.1)
        governor.note(.received(10_000), of: 2, at: 8)
        #expect(look(at: 9).isEmpty)
        start(3, .photo, .lookedAt, at: 9)
        #expect(governor.report.quality == .poor)
        #expect(look(at: 9) == [1])
        #expect(look(at: 12).isEmpty, "once, as the photo begins")
    }

    /// There it takes no time to speak of, and would be asked for anew.
    @Test mutating func onAFastOneItIsLeftAlone() {
        measure(2_000_000)
        start(1, at: 6)
        governor.note(.answered(wait: 0.1, length: 12_000, isShared: false), of: 1, at: 6.1)
        start(2, .photo, .lookedAt, at: 9)
        #expect(governor.report.quality == .good)
        #expect(look(at: 9).isEmpty)
    }
}
