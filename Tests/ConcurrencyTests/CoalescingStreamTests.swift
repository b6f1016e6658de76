import TestSupport
import Testing

@testable import Concurrency

private struct Sum: Coalescing, Equatable {
    var value: Int
    mutating func merge(_ later: Sum) { value += later.value }
}

@Suite struct CoalescingStreamTests {
    @Test func waitingElementsAreMerged() async {
        let stream = CoalescingStream<Sum>()
        for number in 1...4 { stream.send(Sum(value: number)) }
        #expect(await stream.next() == Sum(value: 10))
        stream.send(Sum(value: 5))
        #expect(await stream.next() == Sum(value: 5))
    }

    @Test func noElementIsLostBetweenThreads() async {
        let stream = CoalescingStream<Sum>()
        let total = Task {
            var total = 0
            for await sum in stream { total += sum.value }
            return total
        }
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask { for _ in 0..<1_000 { stream.send(Sum(value: 1)) } }
            }
        }
        stream.finish()
        #expect(await total.value == 8_000)
    }

    @Test func cancellationEndsTheLoopAndKeepsTheStream() async {
        let stream = CoalescingStream<Sum>()
        let listener = Task { await stream.next() }
        listener.cancel()
        #expect(await listener.value == nil)
        stream.send(Sum(value: 3))
        #expect(await stream.next() == Sum(value: 3))
    }

    /// A cancelled listener consumes nothing, and does not end the wait of the next listener.
    @Test(.unlessItHangs) func aNewListenerReplacesACancelledOne() async {
        for _ in 0..<200 {
            let stream = CoalescingStream<Sum>()
            let first = Task {
                var sum = 0
                while let value = await stream.next() { sum += value.value }
                // Late, like a task that was busy when it was cancelled.
                return sum + (await stream.next()?.value ?? 0)
            }
            stream.send(Sum(value: 1))
            first.cancel()
            let second = Task {
                var sum = 0
                while let value = await stream.next() { sum += value.value }
                return sum
            }
            let before = await first.value
            stream.send(Sum(value: 2))
            stream.finish()
            #expect(await second.value + before == 3)
        }
    }

    @Test func unfinishedElementsAreKnown() async {
        let stream = CoalescingStream<Sum>()
        #expect(stream.unfinished == nil)
        stream.send(Sum(value: 1))
        #expect(stream.unfinished == Sum(value: 1))
        _ = await stream.next()
        // Taken, and possibly still being handled.
        stream.send(Sum(value: 2))
        #expect(stream.unfinished == Sum(value: 3))
        _ = await stream.next()
        #expect(stream.unfinished == Sum(value: 2))
    }

    @Test func theEndFollowsThePendingElement() async {
        let stream = CoalescingStream<Sum>()
        stream.send(Sum(value: 1))
        stream.finish()
        stream.send(Sum(value: 2))
        #expect(await stream.next() == Sum(value: 1))
        #expect(await stream.next() == nil)
    }
}
