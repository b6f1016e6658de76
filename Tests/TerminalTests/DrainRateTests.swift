import Testing

@testable import Terminal

@Suite struct DrainRateTests {
    private let second: UInt64 = 1_000_000_000

    /// A queue that is never empty, taken so fast.
    private func take(_ bytes: Int, inSteps steps: Int, of time: UInt64, _ rate: inout DrainRate, _ now: inout UInt64) {
        rate.noteFull(at: now)
        for _ in 0..<steps {
            now += time
            rate.noteTaken(bytes, at: now)
        }
        rate.noteIdle()
    }

    private func isAbout(_ most: Int, _ rate: DrainRate, _ now: UInt64) -> Bool {
        abs(rate.mostInHalfASecond(at: now) - most) <= most / 100
    }

    @Test func whatNobodyWaitsForIsFast() {
        var rate = DrainRate()
        for step in 0..<100 { rate.noteTaken(4_096, at: UInt64(step) * second) }
        #expect(rate.mostInHalfASecond(at: 200 * second) == .max)
        // Two keystrokes' worth is too little to tell.
        var now = 200 * second
        take(1_000, inSteps: 3, of: second, &rate, &now)
        #expect(rate.mostInHalfASecond(at: now) == .max)
    }

    @Test func whatIsWaitedForIsMeasured() {
        var (rate, now) = (DrainRate(), second)
        take(1_000, inSteps: 40, of: second / 10, &rate, &now)
        #expect(isAbout(5_000, rate, now))
        // Some frames that buffers take, one a second, do not make it faster; but it may be, a little.
        #expect(rate.nextHope(at: now + second) == 4 * second && rate.nextHope(at: now + 11 * second) == nil)
        #expect(isAbout(10_000, rate, now + 6 * second) && rate.nextHope(at: now + 6 * second) == 4 * second)
        for _ in 0..<100 {
            now += second
            rate.noteTaken(4_096, at: now)
        }
        #expect(isAbout(20_000, rate, now))
        take(100_000, inSteps: 20, of: second / 10, &rate, &now)
        #expect(isAbout(500_000, rate, now))
        take(1_000, inSteps: 3_000, of: second / 10, &rate, &now)
        #expect(isAbout(5_000, rate, now))
        // More than buffers hold, within a second.
        now += 2 * second
        for _ in 0..<40 { rate.noteTaken(4_096, at: now) }
        #expect(rate.mostInHalfASecond(at: now) == .max)
    }

    /// A terminal that is busy with something else, again and again.
    @Test func stallsAreNoSlowLine() {
        var (rate, now) = (DrainRate(), second)
        for _ in 0..<20 {
            take(8_192, inSteps: 1, of: second / 5, &rate, &now)
            take(8_192, inSteps: 7, of: second / 10_000, &rate, &now)
        }
        #expect(rate.mostInHalfASecond(at: now) > 100_000)
    }

    @Test func whoStopsTheOutputForAWhileHasNoSlowLine() {
        var (rate, now) = (DrainRate(), second)
        rate.noteFull(at: now)
        now += 600 * second
        for _ in 0..<100 {
            now += second / 1_000
            rate.noteTaken(4_096, at: now)
        }
        rate.noteIdle()
        #expect(rate.mostInHalfASecond(at: now) > 100_000)
    }

    @Test func aLineThatChangesWhileItIsWaitedForIsFollowed() {
        var (rate, now) = (DrainRate(), second)
        rate.noteFull(at: now)
        for _ in 0..<1_000 {
            now += second / 1_000
            rate.noteTaken(1_000, at: now)
        }
        #expect((400_000...600_000).contains(rate.mostInHalfASecond(at: now)))
        for _ in 0..<2_000 {
            now += second / 10
            rate.noteTaken(1_000, at: now)
        }
        #expect(rate.mostInHalfASecond(at: now) < 6_000)
    }
}
