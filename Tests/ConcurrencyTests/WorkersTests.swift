import Dispatch
import Concurrency
import Synchronization
import Testing

struct WorkersTests {
    @Test func workRunsInOrder() async {
        let done = Mutex<[Int]>([])
        let workers = Workers(name: "test", count: 1)
        await withCheckedContinuation { continuation in
            for number in 0..<1000 {
                workers.run {
                    let all = done.withLock { done in
                        done.append(number)
                        return done.count == 1000
                    }
                    if all { continuation.resume() }
                }
            }
        }
        #expect(done.withLock { $0 } == Array(0..<1000))
    }

    /// Three closures wait for each other, which needs three threads.
    @Test func allThreadsRunAtOnce() async {
        let workers = Workers(name: "test", count: 3)
        let (arrived, open) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let running = Mutex((now: 0, most: 0))
        await withCheckedContinuation { continuation in
            for number in 0..<10 {
                workers.run {
                    running.withLock { $0 = ($0.now + 1, max($0.most, $0.now + 1)) }
                    if number < 3 {
                        arrived.signal()
                        open.wait()
                    }
                    running.withLock { $0.now -= 1 }
                    if number == 9 { continuation.resume() }
                }
            }
            for _ in 0..<3 { arrived.wait() }
            #expect(running.withLock { $0.now } == 3)
            for _ in 0..<3 { open.signal() }
        }
        #expect(running.withLock { $0.most } == 3)
    }

    @Test func threadsEndWithTheObjectAfterItsWork() async {
        final class Witness: Sendable {
            let ended: @Sendable () -> Void
            init(_ ended: @escaping @Sendable () -> Void) { self.ended = ended }
            deinit { ended() }
        }
        let done = Mutex(0)
        await withCheckedContinuation { continuation in
            var workers: Workers? = Workers(name: "test", count: 2)
            let witness = Witness { continuation.resume() }
            for _ in 0..<100 {
                workers?.run { withExtendedLifetime(witness) { done.withLock { $0 += 1 } } }
            }
            workers = nil
        }
        #expect(done.withLock { $0 } == 100)
    }
}
