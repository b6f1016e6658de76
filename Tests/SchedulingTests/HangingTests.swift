import Model
import TestSupport
import Testing

@testable import Scheduling

/// What the governor does about what hangs when nothing else is left to do.
@Suite(.ownThread) struct HangingTests {
    private var governor = AdaptiveGovernor()
    private let thumbnail = TransferCandidate(host: "h", importance: .visible, kind: .thumbnail)

    init() {
        bring(thumbnail)
    }

    /// Some have come over a link of 40 ms.
    private mutating func bring(_ candidate: TransferCandidate) {
        for number in 1...8 { begin(number, candidate, at: 0) }
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

    /// So long as no answer there ever took.
    @Test mutating func whatIsNotAnsweredIsAskedForOnceMore() {
        begin(9, at: 1)
        look(at: 1.045)
        #expect(governor.takeHanging(at: 1.045).isEmpty)
        #expect(governor.takeHanging(at: 1.06) == [9: .any])
    }

    /// Some it has, and some it makes first.
    @Test mutating func aServerMayTakeItsTime() {
        for number in 9...24 {
            begin(number, at: 1)
            let wait = number.isMultiple(of: 4) ? 1.0 : 0.04
            governor.note(.answered(wait: wait, length: 12_000, isShared: false), of: number, at: 1 + wait)
            governor.note(.received(12_000), of: number, at: 2)
            governor.note(.ended(.completed), of: number, at: 2)
        }
        begin(25, at: 3)
        look(at: 4.1)
        #expect(governor.takeHanging(at: 4.1).isEmpty)
        #expect(governor.takeHanging(at: 9) == [25: .any])
    }

    /// What led elsewhere was no answer: the server there may take as long as any.
    @Test mutating func whoIsAskedAgainMayTakeHisTimeAgain() throws {
        begin(9, at: 1)
        answer(9, at: 1.04)
        governor.note(.askedAgain, of: 9, at: 1.08)
        #expect(abs(try #require(governor.patience(at: 1.08)) - 0.05) < 0.01)
        governor.noteNetwork(at: 1.09)
        #expect(governor.patience(at: 1.09) == nil, "nobody knows what that network takes")
    }

    /// What comes over TLS is seen a record at a time.
    @Test mutating func whatIsSeenLateIsWaitedFor() throws {
        let secure = TransferCandidate(host: "s", isSecure: true, importance: .visible, kind: .thumbnail)
        bring(secure)
        begin(9, secure, at: 1)
        answer(9, at: 1.04)
        look(at: 1.04)
        // 96 kB came in 0.2 s, and a record has 16 KiB.
        #expect(abs(try #require(governor.patience(at: 1.04)) - (0.06 + 16_384 / 480_000)) < 0.02)
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

    /// What is asked for then comes behind all that.
    @Test mutating func asLongAsAQueueIsInTheWayNothingIsAskedForOnceMore() {
        begin(9, at: 1)
        answer(9, at: 1.04)
        for number in 10..<40 {
            begin(number, TransferCandidate(host: "h", importance: .rest, kind: .thumbnail), at: 1)
            governor.note(.answered(wait: 0.04, length: 200_000, isShared: false), of: number, at: 1.04)
        }
        look(at: 2, waiting: 100)
        #expect(governor.takeHanging(at: 2).isEmpty)
        for number in 10..<40 { governor.note(.ended(.cancelled), of: number, at: 2) }
        look(at: 2.1, waiting: 100)
        #expect(governor.takeHanging(at: 2.1) == [9: .any])
    }

    /// There it would be in the way for half a second, and whoever opens a photo waits for it.
    @Test mutating func onASlowLinkNothingIsAskedForOnceMoreWhileThereIsOtherWork() {
        let photo = TransferCandidate(host: "slow", importance: .near, kind: .photo)
        governor.noteStart(of: 100, photo, over: .any, at: 1)
        governor.note(.answered(wait: 0.1, length: 40_000, isShared: false), of: 100, at: 1.1)
        for second in 2...5 {
            governor.note(.received(10_000 * Double(second - 1)), of: 100, at: Double(second))
            look(at: Double(second), waiting: 1)
        }
        governor.note(.ended(.completed), of: 100, at: 5)
        begin(101, TransferCandidate(host: "slow", importance: .rest, kind: .thumbnail), at: 5)
        governor.note(.ended(.completed), of: 101, at: 5.5)
        begin(102, TransferCandidate(host: "slow", importance: .visible, kind: .thumbnail), at: 5.5)
        governor.note(.answered(wait: 0.1, length: 12_000, isShared: false), of: 102, at: 5.6)
        begin(103, TransferCandidate(host: "slow", importance: .rest, kind: .thumbnail), at: 5.6)
        governor.note(.ended(.cancelled), of: 103, at: 5.7)
        look(at: 6, waiting: 1)
        #expect(governor.report.quality == .poor && governor.takeHanging(at: 6).isEmpty)
        look(at: 6.1)
        #expect(governor.takeHanging(at: 6.1) == [102: .any])
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

    /// They wait, and what nobody looks at was begun before they were wished for.
    @Test mutating func whatWaitsComesFirst() {
        begin(9, TransferCandidate(host: "h", importance: .rest, kind: .thumbnail), at: 1)
        for number in 10...12 {
            begin(number, at: 1)
            answer(number, at: 1.04)
        }
        look(at: 2, waiting: 100)
        #expect(governor.takeHanging(at: 2).isEmpty)
    }

    @Test(arguments: zip([5, 4], [0, 1])) mutating func aHostThatComplainsIsAskedForNoMoreThanItTakes(
        complaints: Int, most: Int
    ) {
        for time in 1...complaints { governor.noteComplaint(of: "h", silence: 0, at: Double(time)) }
        #expect(governor.report.limit == most * 2 + 2)
        for number in 9...11 {
            begin(number, at: 10)
            answer(number, at: 10.04)
        }
        look(at: 11)
        #expect(governor.takeHanging(at: 11).count == most)
        var again = thumbnail
        again.isAgain = true
        for number in 0..<most { begin(20 + number, again, at: 11) }
        #expect(governor.takeHanging(at: 12).isEmpty && governor.patience(at: 12) == nil)
    }

    @Test mutating func aHostThatWantsToBeLeftAloneIsNotAskedForItAgain() {
        begin(9, at: 1)
        answer(9, at: 1.04)
        governor.noteComplaint(of: "h", silence: 30, at: 1.05)
        look(at: 2)
        #expect(governor.takeHanging(at: 2).isEmpty)
        governor.endSilence(of: "h")
        look(at: 2.1)
        #expect(governor.takeHanging(at: 2.1) == [9: .any])
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
