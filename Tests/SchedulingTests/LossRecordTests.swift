import TestSupport
import Testing

@testable import Scheduling

/// What the order of packets says of a line.
@Suite(.ownThread) struct LossRecordTests {
    /// - Parameter rounds: a letter for each round trip: a loss, none, or nothing that came.
    private func record(_ rounds: String) -> LossRecord {
        var record = LossRecord()
        for round in rounds {
            if round != "." {
                record.note(isKept: true)
                record.note(isKept: round != "!")
                record.note(isKept: true)
            }
            record.endRound()
        }
        return record
    }

    @Test(arguments: [
        ("", false, false), ("----", false, false), ("--!---", true, false),
        // A queue that ran over, and once more after a while.
        ("--!!!!!-----------------", true, false), ("--!!!!!----------!!!----", true, false),
        // A line that loses some.
        ("--!--!-----!!--", true, true),
        // While nothing comes nothing is learned.
        ("--!..!.!.!--", true, false),
        // It was long ago.
        ("-!-!-!" + String(repeating: "-", count: 32), false, false),
    ])
    func rounds(_ rounds: String, isAny: Bool, areOfLine: Bool) {
        let record = record(rounds)
        #expect(record.isAny == isAny && record.areOfLine == areOfLine)
    }
}
