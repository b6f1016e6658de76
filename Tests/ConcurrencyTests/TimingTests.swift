import TestSupport
import Testing

@testable import Concurrency

@MainActor @Suite(.unlessItHangs) struct TimingTests {
    private let waits = ManualWait()

    private var wait: Wait { { [waits] in try await waits.wait($0) } }

    @Test func aThrottleActsOncePerIntervalAndKeepsTheLastSignal() async {
        var count = 0
        let throttle = Throttle(wait: wait)
        throttle.action = { count += 1 }
        throttle.signal()
        // The first signal does not wait.
        #expect(count == 1)
        #expect(await waits.nextBegin() == .milliseconds(250))
        for _ in 0..<100 { throttle.signal() }
        #expect(count == 1)
        waits.pass()
        #expect(await waits.nextBegin() == .milliseconds(250))
        #expect(count == 2)
        // Without further signals the interval ends, and no other begins.
        waits.pass()
        for _ in 0..<2 { await waits.nextEnd() }
        while throttle.isPausing { await Task.yield() }
        #expect(count == 2 && waits.count == 0)
        throttle.signal()
        #expect(count == 3)
    }

    @Test func anAlarmReplacesItsActionAndCanBeCancelled() async {
        var performed: [Int] = []
        let alarm = Alarm(wait: wait)
        alarm.set(after: .seconds(1)) { performed.append(1) }
        #expect(await waits.nextBegin() == .seconds(1))
        alarm.set(after: .seconds(2)) { performed.append(2) }
        #expect(await waits.nextBegin() == .seconds(2))
        waits.pass()
        while alarm.isSet { await Task.yield() }
        #expect(performed == [2])
        alarm.set(after: .seconds(3)) { performed.append(3) }
        #expect(await waits.nextBegin() == .seconds(3))
        alarm.cancel()
        #expect(!alarm.isSet)
        for _ in 0..<3 { await waits.nextEnd() }
        #expect(performed == [2] && waits.count == 0)
        // A time in the past needs no wait.
        alarm.set(after: .seconds(-1)) { performed.append(4) }
        while alarm.isSet { await Task.yield() }
        #expect(performed == [2, 4])
    }

    @Test func debounceTakesOverAValueThatHasRested() async {
        var changes = 0
        let debounce = Debounce<Int>(interval: .milliseconds(120), wait: wait)
        debounce.onChange = { changes += 1 }
        debounce.set(1)
        #expect(debounce.value == 1 && changes == 0)
        debounce.set(2)
        #expect(await waits.nextBegin() == .milliseconds(120))
        debounce.set(3)
        #expect(await waits.nextBegin() == .milliseconds(120))
        #expect(debounce.value == 1)
        waits.pass()
        while debounce.value == 1 { await Task.yield() }
        #expect(debounce.value == 3 && changes == 1)
        // Going back to the value in use ends the wait.
        debounce.set(4)
        #expect(await waits.nextBegin() == .milliseconds(120))
        debounce.set(3)
        for _ in 0..<3 { await waits.nextEnd() }
        #expect(debounce.value == 3 && changes == 1)
        debounce.set(nil)
        #expect(debounce.value == nil)
    }

    @Test func aRateLimitIsDueOncePerInterval() {
        var limit = RateLimit(interval: .milliseconds(250))
        let start = ContinuousClock.now
        let answers = [0, 249, 250, 499].map { limit.isDue(at: start + .milliseconds($0)) }
        #expect(answers == [true, false, true, false])
    }
}
