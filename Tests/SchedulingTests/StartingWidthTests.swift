import Model
import TestSupport
import Testing

@testable import Scheduling

/// How many transfers start before anything is measured, and what counts among them.
@Suite(.ownThread) struct StartingWidthTests {
    private var governor = AdaptiveGovernor()
    private var started = 0

    /// Starts thumbnails while the governor admits them. Returns how many run.
    @discardableResult private mutating func start(isSecure: Bool = false) -> Int {
        let thumbnail = TransferCandidate(host: "h", isSecure: isSecure, importance: .visible, kind: .thumbnail)
        while case .now(let way) = governor.admit(thumbnail, at: 0) {
            started += 1
            governor.recordStart(of: started, thumbnail, over: way, at: 0)
        }
        return started
    }

    private mutating func startList(isAskedAfter: Bool) {
        let list = TransferCandidate(host: "h", importance: .list, kind: .list, isAskedAfter: isAskedAfter)
        governor.recordStart(of: 0, list, over: .any, at: 0)
    }

    private mutating func connect(_ numbers: ClosedRange<Int>, after seconds: Double = 0.1) {
        for number in numbers { governor.record(.connected(seconds), of: number, at: 0.1) }
    }

    private mutating func answer(_ numbers: ClosedRange<Int>, after seconds: Double = 0.3) {
        for number in numbers {
            governor.record(.answered(wait: seconds, length: 12_000, isShared: false), of: number, at: 0.1)
        }
    }

    @Test("On a short path, each connection starts two more transfers")
    mutating func shortPath() {
        #expect(start() == 5)
        connect(1...2)
        #expect(start() == 9)
        connect(3...5)
        #expect(start() == 12)
        connect(6...12)
        #expect(start() == 12, "the most before an answer")
    }

    @Test("A path is long from a round trip of two tenths of a second on")
    mutating func limitOfLongPaths() {
        start()
        connect(1...1, after: 0.2)
        #expect(start() == 5)
        connect(2...2, after: 0.19)
        #expect(start() == 7)
        #expect(governor.report.width == 7, "the report tells the number of thumbnails that may run")
    }

    @Test("On a long path, each answer starts one more transfer")
    mutating func longPath() {
        #expect(start() == 5)
        connect(1...5, after: 0.3)
        #expect(start() == 5)
        answer(1...2)
        #expect(start() == 7)
        answer(3...4)
        #expect(start() == 8, "the most before the capacity is known")
    }

    @Test("Over TLS, connections and answers start no more transfers, since one connection may carry all")
    mutating func secure() {
        #expect(start(isSecure: true) == 8)
        connect(1...8)
        #expect(start(isSecure: true) == 8)
        answer(1...2)
        #expect(start(isSecure: true) == 8)
    }

    @Test("A list that is probably unchanged takes no thumbnail's place")
    mutating func unchangedList() {
        startList(isAskedAfter: true)
        #expect(start() == 5)
    }

    @Test("A list that is not stored takes the place of thumbnails")
    mutating func newList() {
        startList(isAskedAfter: false)
        #expect(start() < 5)
    }

    @Test("A list that has changed counts with all its bytes")
    mutating func changedList() {
        startList(isAskedAfter: true)
        governor.record(.answered(wait: 0.1, length: 90_000, isShared: false), of: 0, at: 0.1)
        _ = governor.advance(to: 0.1) { _ in 1 }
        #expect(start() == 0)
    }

    /// The first packets of several photos arrive close together on any link.
    @Test("The first answers of photos give no estimate of the capacity")
    mutating func photos() {
        let photo = TransferCandidate(host: "h", importance: .rest, kind: .photo)
        for number in 1...5 {
            governor.recordStart(of: number, photo, over: .any, at: 0)
            let wait = 0.3 + 0.006 * Double(number)
            governor.record(.answered(wait: wait, length: 3_000_000, isShared: false), of: number, at: wait)
        }
        _ = governor.advance(to: 0.4) { _ in 1 }
        #expect(governor.report.window < 120_000, "\(governor.report.window)")
    }
}
