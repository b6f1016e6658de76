import Model
import TestSupport
import Testing

@testable import Scheduling

/// How many start over a link of which nothing is known, and what counts among them.
@Suite(.ownThread) struct BeginningTests {
    private var governor = AdaptiveGovernor()
    private var started = 0

    /// Starts thumbnails while there is room. Returns how many run.
    @discardableResult private mutating func start(isSecure: Bool = false) -> Int {
        let thumbnail = TransferCandidate(host: "h", isSecure: isSecure, importance: .visible, kind: .thumbnail)
        while case .now(let way) = governor.admit(thumbnail, at: 0) {
            started += 1
            governor.noteStart(of: started, thumbnail, over: way, at: 0)
        }
        return started
    }

    private mutating func startList(isAskedAfter: Bool) {
        let list = TransferCandidate(host: "h", importance: .list, kind: .list, isAskedAfter: isAskedAfter)
        governor.noteStart(of: 0, list, over: .any, at: 0)
    }

    private mutating func connect(_ numbers: ClosedRange<Int>, after seconds: Double = 0.1) {
        for number in numbers { governor.note(.connected(seconds), of: number, at: 0.1) }
    }

    private mutating func answer(_ numbers: ClosedRange<Int>, after seconds: Double = 0.3) {
        for number in numbers {
            governor.note(.answered(wait: seconds, length: 12_000, isShared: false), of: number, at: 0.1)
        }
    }

    @Test mutating func withEachThatConnectsTwoMoreStart() {
        #expect(start() == 5)
        connect(1...2)
        #expect(start() == 9)
        connect(3...5)
        #expect(start() == 12)
        connect(6...12)
        #expect(start() == 12, "no more than that before there is an answer")
    }

    /// What is dropped there at the beginning is missed for a second or longer.
    @Test mutating func onALongWayOneMoreStartsWithEachAnswer() {
        #expect(start() == 5)
        connect(1...5, after: 0.3)
        #expect(start() == 5)
        answer(1...2)
        #expect(start() == 7)
        answer(3...4)
        #expect(start() == 8, "no more than that before it is known what fits")
    }

    /// On a slow line the first ones wait for each other.
    @Test mutating func anAnswerThatHasWaitedForOthersMakesNoRoom() {
        #expect(start() == 5)
        connect(1...5, after: 0.6)
        answer(1...1, after: 0.6)
        #expect(start() == 6)
        answer(2...2, after: 1.05)
        answer(3...3, after: 1.5)
        #expect(start() == 6)
    }

    /// What comes over it comes one behind the other, however much is asked for.
    @Test mutating func thatAConnectionIsThereWhichAllMayShareSaysNothing() {
        #expect(start(isSecure: true) == 8)
        connect(1...8)
        #expect(start(isSecure: true) == 8)
        answer(1...2)
        #expect(start(isSecure: true) == 8)
    }

    @Test mutating func aListThatHasHardlyChangedTakesNobodysPlace() {
        startList(isAskedAfter: true)
        #expect(start() == 5)
    }

    @Test mutating func aListThatIsNotHereDoes() {
        startList(isAskedAfter: false)
        #expect(start() < 5)
    }

    @Test mutating func aListThatHasChangedCountsWithAllThatIsToCome() {
        startList(isAskedAfter: true)
        governor.note(.answered(wait: 0.1, length: 90_000, isShared: false), of: 0, at: 0.1)
        _ = governor.advance(to: 0.1) { _ in 1 }
        #expect(start() == 0)
    }

    /// The first packets of several photos come close together whatever the link: what comes between them is not a photo.
    @Test mutating func theFirstAnswersOfPhotosDoNotSayWhatFits() {
        let photo = TransferCandidate(host: "h", importance: .rest, kind: .photo)
        for number in 1...5 {
            governor.noteStart(of: number, photo, over: .any, at: 0)
            let wait = 0.3 + 0.006 * Double(number)
            governor.note(.answered(wait: wait, length: 3_000_000, isShared: false), of: number, at: wait)
        }
        _ = governor.advance(to: 0.4) { _ in 1 }
        #expect(governor.report.window < 120_000, "\(governor.report.window)")
    }
}
