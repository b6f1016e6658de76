import Model
import TestSupport
import Testing

@testable import Scheduling

/// Which hanging thumbnails are requested once more.
@Suite(.ownThread) struct HangingTests {
    private var governor = AdaptiveGovernor()
    private let thumbnail = TransferCandidate(host: "h", importance: .visible, kind: .thumbnail)

    init() {
        receive(thumbnail)
    }

    /// Receives some thumbnails over a path of 40 ms.
    private mutating func receive(_ candidate: TransferCandidate) {
        for number in 1...8 { begin(number, candidate, at: 0) }
        for number in 1...8 {
            answer(number, at: 0.04)
            governor.record(.received(12_000), of: number, at: 0.2)
            governor.record(.ended(.completed), of: number, at: 0.2)
        }
        advance(to: 0.2)
    }

    private mutating func begin(_ number: Int, _ candidate: TransferCandidate? = nil, at now: Double) {
        governor.recordStart(of: number, candidate ?? thumbnail, over: .any, at: now)
    }

    private mutating func answer(_ number: Int, isShared: Bool = false, at now: Double) {
        governor.record(.answered(wait: 0.04, length: 12_000, isShared: isShared), of: number, at: now)
    }

    private mutating func advance(to now: Double, waiting: Int = 0) {
        _ = governor.advance(to: now, waiting: { _ in waiting })
    }

    @Test("A thumbnail that stops in the middle is requested once more")
    mutating func stops() throws {
        begin(9, at: 1)
        answer(9, at: 1.04)
        governor.record(.received(10_000), of: 9, at: 1.05)
        advance(to: 1.1)
        #expect(governor.takeHanging(at: 1.1).isEmpty)
        #expect(abs(try #require(governor.timeUntilHanging(at: 1.06)) - 0.05) < 0.001)
        #expect(governor.takeHanging(at: 1.12) == [9: .any])
        #expect(governor.timeUntilHanging(at: 1.12) == nil)
        #expect(governor.takeHanging(at: 9).isEmpty, "once")
    }

    @Test("A second request is not repeated")
    mutating func secondRequest() {
        var again = thumbnail
        again.isAgain = true
        begin(9, again, at: 1)
        answer(9, at: 1.04)
        advance(to: 2)
        #expect(governor.takeHanging(at: 2).isEmpty)
    }

    @Test("A thumbnail whose answer is later than usual is requested once more")
    mutating func noAnswer() {
        begin(9, at: 1)
        advance(to: 1.045)
        #expect(governor.takeHanging(at: 1.045).isEmpty)
        #expect(governor.takeHanging(at: 1.06) == [9: .any])
    }

    /// A server may create some thumbnails on request.
    @Test("Where answers differ, the wait is longer")
    mutating func slowServer() {
        for number in 9...24 {
            begin(number, at: 1)
            let wait = number.isMultiple(of: 4) ? 1.0 : 0.04
            governor.record(.answered(wait: wait, length: 12_000, isShared: false), of: number, at: 1 + wait)
            governor.record(.received(12_000), of: number, at: 2)
            governor.record(.ended(.completed), of: number, at: 2)
        }
        begin(25, at: 3)
        advance(to: 4.1)
        #expect(governor.takeHanging(at: 4.1).isEmpty)
        #expect(governor.takeHanging(at: 9) == [25: .any])
    }

    @Test("After a redirect, the wait begins again")
    mutating func redirect() throws {
        begin(9, at: 1)
        answer(9, at: 1.04)
        governor.record(.askedAgain, of: 9, at: 1.08)
        #expect(abs(try #require(governor.timeUntilHanging(at: 1.08)) - 0.05) < 0.01)
        governor.recordNetworkChange(at: 1.09)
        #expect(governor.timeUntilHanging(at: 1.09) == nil, "the waits of the new network are unknown")
    }

    @Test("Over TLS, the wait includes the time of records")
    mutating func records() throws {
        let secure = TransferCandidate(host: "s", isSecure: true, importance: .visible, kind: .thumbnail)
        receive(secure)
        begin(9, secure, at: 1)
        answer(9, at: 1.04)
        advance(to: 1.04)
        // 96 kB arrived in 0.2 s, and a record has 16 KiB.
        #expect(abs(try #require(governor.timeUntilHanging(at: 1.04)) - (0.06 + 16_384 / 480_000)) < 0.02)
    }

    @Test("While others wait, or many run, nothing is repeated", arguments: [(1, 1), (0, 7)])
    mutating func others(waiting: Int, running: Int) {
        for number in 9..<9 + running {
            begin(number, at: 1)
            answer(number, at: 1.04)
        }
        advance(to: 2, waiting: waiting)
        #expect(governor.takeHanging(at: 2).isEmpty)
        advance(to: 2)
        for number in 10..<9 + running { governor.record(.ended(.cancelled), of: number, at: 2) }
        #expect(governor.takeHanging(at: 2) == [9: .any])
    }

    /// A second request would delay a photo by half a second.
    @Test("On a slow link, nothing is repeated while others wait")
    mutating func slowLink() {
        let photo = TransferCandidate(host: "slow", importance: .near, kind: .photo)
        governor.recordStart(of: 100, photo, over: .any, at: 1)
        governor.record(.answered(wait: 0.1, length: 40_000, isShared: false), of: 100, at: 1.1)
        for second in 2...5 {
            governor.record(.received(10_000 * Double(second - 1)), of: 100, at: Double(second))
            advance(to: Double(second), waiting: 1)
        }
        governor.record(.ended(.completed), of: 100, at: 5)
        begin(101, TransferCandidate(host: "slow", importance: .rest, kind: .thumbnail), at: 5)
        governor.record(.ended(.completed), of: 101, at: 5.5)
        begin(102, TransferCandidate(host: "slow", importance: .visible, kind: .thumbnail), at: 5.5)
        governor.record(.answered(wait: 0.1, length: 12_000, isShared: false), of: 102, at: 5.6)
        begin(103, TransferCandidate(host: "slow", importance: .rest, kind: .thumbnail), at: 5.6)
        governor.record(.ended(.cancelled), of: 103, at: 5.7)
        advance(to: 6, waiting: 1)
        #expect(governor.report.quality == .poor && governor.takeHanging(at: 6).isEmpty)
        advance(to: 6.1)
        #expect(governor.takeHanging(at: 6.1) == [102: .any])
    }

    @Test("Visible thumbnails are repeated while less important ones run")
    mutating func visibleThumbnails() {
        for number in 9...60 {
            let importance = number < 12 ? Importance.visible : .rest
            begin(number, TransferCandidate(host: "h", importance: importance, kind: .thumbnail), at: 1)
            answer(number, at: 1.04)
        }
        advance(to: 2, waiting: 100)
        #expect(governor.takeHanging(at: 2) == [9: .any, 10: .any, 11: .any])
        #expect(governor.takeHanging(at: 3).isEmpty)
    }

    @Test("While visible thumbnails wait, nothing is repeated")
    mutating func waitingThumbnails() {
        begin(9, TransferCandidate(host: "h", importance: .rest, kind: .thumbnail), at: 1)
        for number in 10...12 {
            begin(number, at: 1)
            answer(number, at: 1.04)
        }
        advance(to: 2, waiting: 100)
        #expect(governor.takeHanging(at: 2).isEmpty)
    }

    @Test("Second requests keep to the host's limit", arguments: zip([5, 4], [0, 1]))
    mutating func limit(complaints: Int, most: Int) {
        for time in 1...complaints { governor.recordComplaint(of: "h", silence: 0, at: Double(time)) }
        #expect(governor.report.limit == most * 2 + 2)
        for number in 9...11 {
            begin(number, at: 10)
            answer(number, at: 10.04)
        }
        advance(to: 11)
        #expect(governor.takeHanging(at: 11).count == most)
        var again = thumbnail
        again.isAgain = true
        for number in 0..<most { begin(20 + number, again, at: 11) }
        #expect(governor.takeHanging(at: 12).isEmpty && governor.timeUntilHanging(at: 12) == nil)
    }

    @Test("During a host's silence, nothing is repeated")
    mutating func silence() {
        begin(9, at: 1)
        answer(9, at: 1.04)
        governor.recordComplaint(of: "h", silence: 30, at: 1.05)
        advance(to: 2)
        #expect(governor.takeHanging(at: 2).isEmpty)
        governor.endSilence(of: "h")
        advance(to: 2.1)
        #expect(governor.takeHanging(at: 2.1) == [9: .any])
    }

    /// A photo is large, and the server may create a list slowly.
    @Test("Photos and lists are not repeated", arguments: [TransferKind.photo, .list])
    mutating func otherKinds(_ kind: TransferKind) {
        begin(9, TransferCandidate(host: "h", importance: .lookedAt, kind: kind), at: 1)
        answer(9, at: 1.04)
        advance(to: 5)
        #expect(governor.takeHanging(at: 5).isEmpty)
    }

    /// The following answers show the server what was lost.
    @Test("Over a shared connection, nothing is repeated")
    mutating func sharedConnection() {
        begin(9, at: 1)
        answer(9, isShared: true, at: 1.04)
        advance(to: 2)
        #expect(governor.takeHanging(at: 2).isEmpty)
    }
}
