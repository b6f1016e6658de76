import Testing

@testable import Scheduling

/// What the line loses is told from what a queue drops.
@Suite struct PacketSignsTests {
    private let least = 0.04

    /// A round trip with packets that came in their order, or not.
    private func pass(_ signs: inout PacketSigns, areOrdered: Bool = true, trip: Double? = 0.04, isShared: Bool) {
        signs.note(areOrdered: areOrdered, trip: trip, least: least, isShared: isShared)
        signs.endRound()
    }

    @Test func ofManyConnectionsTheLastTripTells() {
        var signs = PacketSigns()
        #expect(!signs.isHeldUp(least: least, isShared: false), "nothing is known")
        pass(&signs, areOrdered: false, trip: 0.08, isShared: false)
        pass(&signs, isShared: false)
        #expect(!signs.isHeldUp(least: least, isShared: false) && signs.areAnyLost)
        pass(&signs, areOrdered: false, isShared: false)
        #expect(signs.isHeldUp(least: least, isShared: false))
        pass(&signs, trip: 0.08, isShared: false)
        #expect(!signs.isHeldUp(least: least, isShared: false), "the link is full")
    }

    /// As of packets that a proxy acknowledges.
    @Test(arguments: [true, false]) func withoutTripsNoLossIsTheLines(isShared: Bool) {
        var signs = PacketSigns()
        for _ in 0..<8 { pass(&signs, areOrdered: false, trip: nil, isShared: isShared) }
        #expect(signs.areAnyLost && !signs.areAnyLostOnLine && !signs.isHeldUp(least: least, isShared: isShared))
        #expect(!signs.isLate(least: least))
    }

    /// What its queue drops is known of before the trip has come to show it, and when it shows it no more.
    @Test func ofASharedOneAQueueCountsForAWhile() {
        var signs = PacketSigns()
        for _ in 0..<4 { pass(&signs, isShared: true) }
        pass(&signs, trip: 0.06, isShared: true)
        for _ in 0..<3 { pass(&signs, areOrdered: false, isShared: true) }
        #expect(!signs.isHeldUp(least: least, isShared: true) && signs.areAnyLost)
        pass(&signs, isShared: true)
        #expect(!signs.isHeldUp(least: least, isShared: true), "those were the queue's")
        pass(&signs, areOrdered: false, isShared: true)
        #expect(signs.isHeldUp(least: least, isShared: true))
        #expect(!signs.isHeldUpAgainAndAgain(least: least, isShared: true))
    }
}
