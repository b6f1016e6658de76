import Testing

@testable import Scheduling

/// What came all at once.
struct BurstArrivalsTests {
    private var late = BurstArrivals()

    @Test mutating func whatCameWithALostPacketCountsFromWhenItWasMissed() {
        late.note(from: 1, to: 1.4)
        #expect(late.beginning(of: 1.25) == 1)
        #expect(late.beginning(of: 0.5) == 0.5)
        #expect(late.beginning(of: 1.4) == 1.4)
    }

    @Test mutating func ofSeveralTheEarliestCounts() {
        late.note(from: 1, to: 1.4)
        late.note(from: 1.2, to: 1.6)
        #expect(late.beginning(of: 1.3) == 1)
        #expect(late.beginning(of: 1.5) == 1.2)
    }

    @Test mutating func noMoreOfThemAreKeptThanAreOfUse() {
        for number in 0..<1_000 { late.note(from: Double(number), to: Double(number) + 0.5) }
        #expect(late.beginning(of: 0.25) == 0.25)
    }
}
