import TestSupport
import Testing

@testable import UI

@MainActor @Suite(.unlessItHangs) struct ThrottleTests {
    private let waits = ManualWait()

    @Test func newsAreLetThroughAFewTimesASecondAndTheLastIsNotLost() async {
        var count = 0
        let pace = Throttle(wait: { [waits] in try await waits.wait($0) })
        pace.deliver = { count += 1 }
        pace.note()
        // The first is not kept waiting.
        #expect(count == 1)
        #expect(await waits.nextBegin() == .milliseconds(250))
        for _ in 0..<100 { pace.note() }
        #expect(count == 1)
        waits.pass()
        #expect(await waits.nextBegin() == .milliseconds(250))
        #expect(count == 2)
        // Nothing has come since: the pause ends, and no other begins.
        waits.pass()
        for _ in 0..<2 { await waits.nextEnd() }
        while pace.isPausing { await Task.yield() }
        #expect(count == 2 && waits.count == 0)
        pace.note()
        #expect(count == 3)
    }
}
