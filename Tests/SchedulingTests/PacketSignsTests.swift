import Testing

@testable import Scheduling

/// Losses on the line are distinguished from drops of a queue.
@Suite struct PacketSignsTests {
    private let least = 0.04

    /// A round trip with packets in order, or not.
    private func pass(_ signs: inout PacketSigns, areOrdered: Bool = true, trip: Double? = 0.04, isShared: Bool) {
        signs.record(areOrdered: areOrdered, trip: trip, least: least, isShared: isShared)
        signs.endRound()
    }

    /// Returns whether the line loses packets and is not full.
    private func isHeldUp(_ signs: PacketSigns, isShared: Bool) -> Bool {
        signs.losses(holdingUp: least, isShared: isShared).isAny
    }

    @Test("With many connections, the last round trip shows whether there is a queue")
    func manyConnections() {
        var signs = PacketSigns()
        #expect(!isHeldUp(signs, isShared: false), "nothing is known")
        pass(&signs, areOrdered: false, trip: 0.08, isShared: false)
        pass(&signs, isShared: false)
        #expect(!isHeldUp(signs, isShared: false) && signs.losses.isAny)
        pass(&signs, areOrdered: false, isShared: false)
        #expect(isHeldUp(signs, isShared: false))
        pass(&signs, trip: 0.08, isShared: false)
        #expect(!isHeldUp(signs, isShared: false), "the link is full")
    }

    /// A proxy, for example, acknowledges packets itself.
    @Test("Without known round trips, no loss counts as the line's", arguments: [true, false])
    func unknownTrips(isShared: Bool) {
        var signs = PacketSigns()
        for _ in 0..<8 { pass(&signs, areOrdered: false, trip: nil, isShared: isShared) }
        #expect(signs.losses.isAny && !signs.lossesOnLine.isAny && !isHeldUp(signs, isShared: isShared))
        #expect(!signs.isLate(least: least))
    }

    @Test("With a shared connection, a queue counts for some round trips")
    func sharedConnection() {
        var signs = PacketSigns()
        for _ in 0..<4 { pass(&signs, isShared: true) }
        pass(&signs, trip: 0.06, isShared: true)
        for _ in 0..<3 { pass(&signs, areOrdered: false, isShared: true) }
        #expect(!isHeldUp(signs, isShared: true) && signs.losses.isAny)
        pass(&signs, isShared: true)
        #expect(!isHeldUp(signs, isShared: true), "those were the queue's")
        pass(&signs, areOrdered: false, isShared: true)
        #expect(isHeldUp(signs, isShared: true))
    }

    /// - Parameter rounds: a character for each round trip: `!` a loss, `-` none, `.` no packets.
    private func record(_ rounds: String) -> LossRecord {
        var record = LossRecord()
        for round in rounds {
            if round != "." {
                for hasLoss in [false, round == "!", false] { record.add(hasLoss: hasLoss) }
            }
            record.endRound()
        }
        return record
    }

    @Test(
        "Losses that begin at least three times are repeated",
        arguments: [
            ("", false, false), ("----", false, false), ("--!---", true, false),
            // A queue overflows, and again later.
            ("--!!!!!-----------------", true, false), ("--!!!!!----------!!!----", true, false),
            // The line loses packets.
            ("--!--!-----!!--", true, true),
            // Rounds without packets do not count.
            ("--!..!.!.!--", true, false),
            // Old losses do not count.
            ("-!-!-!" + String(repeating: "-", count: 32), false, false),
        ])
    func rounds(_ rounds: String, isAny: Bool, isRepeated: Bool) {
        let record = record(rounds)
        #expect(record.isAny == isAny && record.isRepeated == isRepeated)
    }
}
