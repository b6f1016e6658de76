import Testing

@testable import Scheduling

/// The estimate of the bytes of an incomplete record.
struct TLSRecordDelayTests {
    private var delay = TLSRecordDelay()

    private mutating func deliver(_ count: Int) {
        for number in 1...count { delay.record(Double(number) * 8_000, at: Double(number) * 0.5) }
    }

    private mutating func expect(_ unseen: Double, at now: Double, _ location: SourceLocation = #_sourceLocation) {
        delay.advance(to: now)
        #expect(delay.unseen == unseen, sourceLocation: location)
    }

    @Test("The estimate follows the rate of the last records")
    mutating func rate() {
        deliver(4)
        expect(0, at: 2)
        expect(4_000, at: 2.25)
        expect(8_000, at: 2.5)
        for number in 1...9 { delay.record(32_000 + Double(number) * 1_000, at: 2 + Double(number)) }
        expect(1_000, at: 12)
    }

    @Test("The estimate is at most a record")
    mutating func most() {
        deliver(4)
        expect(TLSRecordDelay.record, at: 60)
    }

    @Test("Deliveries at the same time count as one, so the rate still comes from nine of them")
    mutating func together() {
        for number in 1...9 {
            let (bytes, time) = (Double(number * number) * 1_000, Double(number))
            delay.record(bytes - 500, at: time)
            delay.record(bytes, at: time)
        }
        // 80,000 bytes in eight seconds.
        expect(5_000, at: 9.5)
    }

    @Test("A pause does not count")
    mutating func pause() {
        deliver(4)
        delay.recordBeginning(32_000, at: 100)
        expect(0, at: 100)
        expect(4_000, at: 100.25)
    }

    @Test("Without a rate, the estimate is 0")
    mutating func unknown() {
        expect(0, at: 1)
        delay.recordBeginning(0, at: 0)
        delay.record(8_000, at: 0.5)
        expect(0, at: 1)
    }
}
