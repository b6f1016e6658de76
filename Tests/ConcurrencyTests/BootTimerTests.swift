import Foundation
import Synchronization
import Testing

@testable import Concurrency

struct BootTimerTests {
    @Test func workRunsInOrderOfItsDeadlines() async {
        let timer = BootTimer()
        let done = Mutex<[Int]>([])
        await withCheckedContinuation { continuation in
            for (number, delay) in [30_000_000, 10_000_000, 20_000_000, 0, 10_000_000].enumerated() {
                timer.run(afterNanoseconds: Int64(delay)) {
                    let all = done.withLock { done in
                        done.append(number)
                        return done.count == 5
                    }
                    if all { continuation.resume() }
                }
            }
        }
        #expect(done.withLock { $0 } == [3, 1, 4, 2, 0])
    }

    @Test func aDistantDeadlineDelaysNothingElse() async {
        let timer = BootTimer()
        timer.run(afterNanoseconds: .max) {}
        timer.run(afterNanoseconds: 6 * 3_600_000_000_000) {}
        await withCheckedContinuation { continuation in
            timer.run(afterNanoseconds: -1) { continuation.resume() }
        }
    }

    @Test("Without a system timer, work still runs in order, except cancelled work")
    func withoutTheSystemsTimer() async {
        let timer = BootTimer(descriptor: -1)
        let done = Mutex<[Int]>([])
        await withCheckedContinuation { continuation in
            timer.run(afterNanoseconds: 20_000_000) {
                done.withLock { $0.append(2) }
                continuation.resume()
            }
            timer.cancel(timer.run(afterNanoseconds: 5_000_000) { done.withLock { $0.append(0) } })
            timer.run(afterNanoseconds: 10_000_000) { done.withLock { $0.append(1) } }
        }
        #expect(done.withLock { $0 } == [1, 2])
    }

    /// The system reports this clock's number for the descriptor.
    @Test func theTimerUsesTheClockThatIncludesSuspendedTime() throws {
        let timer = BootTimer()
        timer.run(afterNanoseconds: 3_600_000_000_000) {}
        let facts = try String(contentsOfFile: "/proc/self/fdinfo/\(timer.descriptor)", encoding: .utf8)
        #expect(facts.contains("clockid: \(CLOCK_BOOTTIME)"))
        withExtendedLifetime(timer) {}
    }
}
