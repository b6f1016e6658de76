import Concurrency
import Synchronization
import TestSupport
import Testing

@testable import UI

@MainActor @Suite(.unlessItHangs) struct LookUpTests {
    private let waits = ManualWait()
    private let found = AsyncStream<Int>.makeStream()

    private func lookUp(_ look: @escaping @Sendable () -> Int) -> LookUp<Int> {
        let lookUp = LookUp<Int>(wait: { [waits] in try await waits.wait($0) })
        lookUp.begin = { look }
        lookUp.onFound = { [found] in found.continuation.yield($0) }
        return lookUp
    }

    private func nextFound() async -> Int? {
        for await value in found.stream { return value }
        return nil
    }

    @Test func changesAreMergedIntoFewQueries() async {
        let looks = Counter()
        let lookUp = lookUp { looks.next() }
        for _ in 0..<100 { lookUp.setNeedsUpdate() }
        #expect(await nextFound() == 1)
        #expect(await waits.nextBegin() == Throttle.interval)
        waits.pass()
        // Changes during the wait are merged into one query.
        #expect(await nextFound() == 2)
        #expect(await waits.nextBegin() == Throttle.interval)
        waits.pass()
        lookUp.look()
        #expect(await nextFound() == 3)
    }

    @Test func oneQueryRunsAtATime() async {
        let looks = Counter()
        let lookUp = lookUp { looks.next() }
        // No query returns during this loop, because results arrive on the main actor.
        for _ in 0..<50 { lookUp.look() }
        #expect(await nextFound() == 1)
        #expect(await nextFound() == 2)
        lookUp.look()
        #expect(await nextFound() == 3)
    }

    private final class Counter: Sendable {
        private let count = Mutex(0)

        func next() -> Int {
            count.withLock { count in
                count += 1
                return count
            }
        }
    }
}
