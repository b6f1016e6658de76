import Numbers
import Testing

@testable import HTTP

/// The order of requests.
struct PiecePlanTests {
    private func plan(window: ByteCount) -> PiecePlan {
        var plan = PiecePlan(HTTPRequest.Pieces(size: 10, window: window, most: 24), from: 0, limit: 1_000)
        _ = plan.first()
        return plan
    }

    @Test func noMoreThanTheWindow() {
        var plan = plan(window: 25)
        #expect(plan.next(underWay: 1) == 10..<20)
        #expect(plan.next(underWay: 2) == 20..<30)
        #expect(plan.next(underWay: 3) == nil)
        plan.add(received: 6)
        #expect(plan.next(underWay: 3) == 30..<40)
    }

    @Test func noPieceLiesBeyondTheEnd() {
        var plan = plan(window: 100)
        plan.set(length: 15)
        #expect(plan.next(underWay: 1) == 10..<15)
        #expect(plan.next(underWay: 1) == nil)
    }

    /// A missing piece must not let all others fill the memory.
    @Test func memoryIsBounded() {
        var plan = plan(window: 20)
        var asked = 1
        while plan.next(underWay: 1) != nil {
            plan.add(received: 10)
            asked += 1
        }
        #expect(asked == 72)
    }

    @Test func theNumberOfPiecesIsLimited() {
        var plan = plan(window: 1_000)
        #expect(plan.next(underWay: 24) == nil)
    }
}
