import Testing

@testable import Scheduling

/// What has come of a record that is not whole.
struct TLSRecordDelayTests {
    private var sightings = TLSRecordDelay()

    private mutating func see(_ count: Int, from start: Double = 0) {
        for number in 1...count { sightings.note(Double(number) * 8_000, at: start + Double(number) * 0.5) }
    }

    private mutating func expect(_ unseen: Double, at now: Double, _ place: SourceLocation = #_sourceLocation) {
        sightings.advance(to: now)
        #expect(sightings.unseen == unseen, sourceLocation: place)
    }

    @Test mutating func asMuchComesUnseenAsWasSeenInThatTime() {
        see(4)
        expect(0, at: 2)
        expect(4_000, at: 2.25)
        expect(8_000, at: 2.5)
    }

    @Test mutating func neverMoreThanARecord() {
        see(4)
        expect(TLSRecordDelay.record, at: 60)
    }

    @Test mutating func aPauseDoesNotCount() {
        see(4)
        sightings.noteBeginning(32_000, at: 100)
        expect(0, at: 100)
        expect(4_000, at: 100.25)
    }

    @Test mutating func whatWasLongAgoDoesNotCount() {
        see(4)
        for number in 1...9 { sightings.note(32_000 + Double(number) * 1_000, at: 2 + Double(number)) }
        expect(1_000, at: 12)
    }

    @Test mutating func whereNothingTellsItIsNothing() {
        expect(0, at: 1)
        sightings.noteBeginning(0, at: 0)
        sightings.note(8_000, at: 0.5)
        expect(0, at: 1)
    }
}
