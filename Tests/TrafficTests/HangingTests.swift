import Model
import TestSupport
import Testing

@testable import Traffic

/// What the governor does about what hangs when nothing else is left to do.
@Suite(.ownThread) struct HangingTests {
    private var governor = AdaptiveGovernor()
    private let thumbnail = TransferCandidate(host: "h", importance: .visible, kind: .thumbnail)

    /// Some have come over a link of 40 ms.
    init() {
        for number in 1...8 { begin(number, at: 0) }
        for number in 1...8 {
            answer(number, at: 0.04)
            governor.note(.received(12_000), of: number, at: 0.2)
            governor.note(.ended(.completed), of: number, at: 0.2)
        }
        look(at: 0.2)
    }

    private mutating func begin(_ number: Int, _ candidate: TransferCandidate? = nil, at now: Double) {
        governor.noteStart(of: number, candidate ?? thumbnail, over: .any, at: now)
    }

    private mutating func answer(_ number: Int, isShared: Bool = false, at now: Double) {
        governor.note(.answered(wait: 0.04, length: 12_000, isShared: isShared), of: number, at: now)
    }

    private mutating func look(at now: Double, waiting: Int = 0) {
        _ = governor.advance(to: now, waiting: { _ in waiting })
    }

    @Test mutating func whatStopsInTheMiddleIsAskedForOnceMore() throws {
        begin(9, at: 1)
        answer(9, at: 1.04)
        governor.note(.received(10_000), of: 9, at: 1.05)
        look(at: 1.1)
        #expect(governor.takeHanging(at: 1.1).isEmpty)
        #expect(abs(try #require(governor.patience(at: 1.06)) - 0.05) < 0.001)
        #expect(governor.takeHanging(at: 1.12) == [9: .any])
        #expect(governor.patience(at: 1.12) == nil)
        #expect(governor.takeHanging(at: 9).isEmpty, "once")
    }

    @Test mutating func whatIsAskedForOnceMoreIsNotAskedForAThirdTime() {
        var again = thumbnail
        again.isAgain = true
        begin(9, again, at: 1)
        answer(9, at: 1.04)
        look(at: 2)
        #expect(governor.takeHanging(at: 2).isEmpty)
    }

    /// A server that makes a thumbnail takes its time.
    @Test mutating func whatIsNotAnsweredMayTakeTwiceAsLongAsUsual() {
        for (number, wait) in zip(9..., Array(repeating: 0.2, count: 8)) {
            begin(number, at: 1)
            governor.note(.answered(wait: wait, length: 12_000, isShared: false), of: number, at: 1 + wait)
            governor.note(.received(12_000), of: number, at: 1.3)
            governor.note(.ended(.completed), of: number, at: 1.3)
        }
        begin(19, at: 2)
        look(at: 2.25)
        #expect(governor.takeHanging(at: 2.25).isEmpty)
        #expect(governor.takeHanging(at: 2.4) == [19: .any])
    }

    @Test(arguments: [(1, 1), (0, 7)]) mutating func thereHasToBeRoom(waiting: Int, running: Int) {
        for number in 9..<9 + running {
            begin(number, at: 1)
            answer(number, at: 1.04)
        }
        look(at: 2, waiting: waiting)
        #expect(governor.takeHanging(at: 2).isEmpty)
        look(at: 2)
        for number in 10..<9 + running { governor.note(.ended(.cancelled), of: number, at: 2) }
        #expect(governor.takeHanging(at: 2) == [9: .any])
    }

    /// They are on the screen, and what is fetched besides is not.
    @Test mutating func theLastOfThoseThatAreLookedAtNeedNotBeTheLast() {
        for number in 9...60 {
            let importance = number < 12 ? Importance.visible : .rest
            begin(number, TransferCandidate(host: "h", importance: importance, kind: .thumbnail), at: 1)
            answer(number, at: 1.04)
        }
        look(at: 2, waiting: 100)
        #expect(governor.takeHanging(at: 2) == [9: .any, 10: .any, 11: .any])
        #expect(governor.takeHanging(at: 3).isEmpty)
    }

    @Test mutating func aHostThatComplainsIsNotAskedForMore() {
        for time in 1...9 { governor.noteComplaint(of: "h", at: Double(time)) }
        begin(9, at: 10)
        answer(9, at: 10.04)
        look(at: 11)
        #expect(governor.takeHanging(at: 11).isEmpty)
    }

    /// A file could be anywhere by then, and there may be much of it; a list is made by a server that may be slow.
    @Test(arguments: [TransferKind.photo, .list]) mutating func onlyThumbnailsAre(_ kind: TransferKind) {
        begin(9, TransferCandidate(host: "h", importance: .lookedAt, kind: kind), at: 1)
        answer(9, at: 1.04)
        look(at: 5)
        #expect(governor.takeHanging(at: 5).isEmpty)
    }

    /// What the others bring over it tells the server what was lost.
    @Test mutating func overASharedConnectionNothingIs() {
        begin(9, at: 1)
        answer(9, isShared: true, at: 1.04)
        look(at: 2)
        #expect(governor.takeHanging(at: 2).isEmpty)
    }
}
