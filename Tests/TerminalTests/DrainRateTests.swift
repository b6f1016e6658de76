import Testing

@testable import Terminal

@Suite struct DrainRateTests {
    private let second: UInt64 = 1_000_000_000

    /// A queue that is never empty, accepted at a fixed speed.
    private func take(_ bytes: Int, inSteps steps: Int, of time: UInt64, _ rate: inout DrainRate, _ now: inout UInt64) {
        rate.recordFull(at: now)
        for _ in 0..<steps {
            now += time
            rate.recordTaken(bytes, at: now)
        }
        rate.recordIdle()
    }

    private func isAbout(_ most: Int, _ rate: DrainRate, _ now: UInt64) -> Bool {
        abs(rate.mostInHalfASecond(at: now) - most) <= most / 100
    }

    @Test("Without waiting the line counts as fast") func noWaiting() {
        var rate = DrainRate()
        for step in 0..<100 { rate.recordTaken(4_096, at: UInt64(step) * second) }
        #expect(rate.mostInHalfASecond(at: 200 * second) == .max)
        // A few kilobytes are too few for a measurement.
        var now = 200 * second
        take(1_000, inSteps: 3, of: second, &rate, &now)
        #expect(rate.mostInHalfASecond(at: now) == .max)
    }

    @Test("The speed is measured while waiting") func measures() {
        var (rate, now) = (DrainRate(), second)
        take(1_000, inSteps: 40, of: second / 10, &rate, &now)
        #expect(isAbout(5_000, rate, now))
        // Frames that fit into buffers do not raise the estimate, but time without waiting does.
        #expect(rate.nextIncrease(at: now + second) == 4 * second && rate.nextIncrease(at: now + 11 * second) == nil)
        #expect(isAbout(10_000, rate, now + 6 * second) && rate.nextIncrease(at: now + 6 * second) == 4 * second)
        for _ in 0..<100 {
            now += second
            rate.recordTaken(4_096, at: now)
        }
        #expect(isAbout(20_000, rate, now))
        take(100_000, inSteps: 20, of: second / 10, &rate, &now)
        #expect(isAbout(500_000, rate, now))
        take(1_000, inSteps: 3_000, of: second / 10, &rate, &now)
        #expect(isAbout(5_000, rate, now))
        // More than buffers can hold, within a second.
        now += 2 * second
        for _ in 0..<40 { rate.recordTaken(4_096, at: now) }
        #expect(rate.mostInHalfASecond(at: now) == .max)
    }

    /// A terminal that pauses again and again.
    @Test("Stalls do not make a line slow") func stalls() {
        var (rate, now) = (DrainRate(), second)
        for _ in 0..<20 {
            take(8_192, inSteps: 1, of: second / 5, &rate, &now)
            take(8_192, inSteps: 7, of: second / 10_000, &rate, &now)
        }
        #expect(rate.mostInHalfASecond(at: now) > 100_000)
    }

    @Test("Stopping the output does not make a line slow") func stoppedOutput() {
        var (rate, now) = (DrainRate(), second)
        rate.recordFull(at: now)
        now += 600 * second
        for _ in 0..<100 {
            now += second / 1_000
            rate.recordTaken(4_096, at: now)
        }
        rate.recordIdle()
        #expect(rate.mostInHalfASecond(at: now) > 100_000)
    }

    @Test("The estimate follows a line that changes") func changes() {
        var (rate, now) = (DrainRate(), second)
        rate.recordFull(at: now)
        for _ in 0..<1_000 {
            now += second / 1_000
            rate.recordTaken(1_000, at: now)
        }
        #expect((400_000...600_000).contains(rate.mostInHalfASecond(at: now)))
        for _ in 0..<2_000 {
            now += second / 10
            rate.recordTaken(1_000, at: now)
        }
        #expect(rate.mostInHalfASecond(at: now) < 6_000)
    }
}
