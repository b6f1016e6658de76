import TestSupport
import Testing

@testable import Networking

@Suite(.ownThread) struct RosterTests {
    @Test func whatHasGoneLeavesItsNumberToWhatComes() {
        var roster = Roster<String, Int>()
        let numbers = ["a", "b", "c"].enumerated().map { roster.add($1, $0) }
        #expect(numbers == [0, 1, 2])
        roster.remove(1)
        #expect(roster.number(of: "b") == nil && roster.count == 2)
        #expect(Array(roster.numbers) == [0, 2])
        #expect(roster.add("d", 3) == 1)
        #expect(roster.number(of: "d") == 1 && roster.key(1) == "d" && roster[1] == 3)
        roster[2] = 9
        #expect(roster.number(of: "c").map { roster[$0] } == 9)
    }

    @Test func theLastToGoLeavesNothingBehind() {
        var roster = Roster<Int, Int>()
        for key in 0..<1_000 { _ = roster.add(key, key) }
        for number in Array(roster.numbers).reversed() { roster.remove(number) }
        #expect(roster.count == 0 && roster.number(of: 5) == nil)
        #expect(roster.add(7, 7) == 0)
    }

    /// Keys whose hashes are alike stand in each other's buckets, and go from between each other.
    @Test func agreesWithADictionary() {
        var roster = Roster<Int, Int>()
        var model: [Int: Int] = [:]
        var chance = SeededNumbers(seed: 1)
        for round in 0..<50_000 {
            let key = Int.random(in: 0..<500, using: &chance)
            // It grows, and shrinks again.
            let comes = Int.random(in: 0..<10, using: &chance) < (round / 5_000 % 2 == 0 ? 7 : 3)
            switch (comes, roster.number(of: key)) {
            case (true, let number?): roster[number] = round
            case (true, nil):
                let number = roster.add(key, round)
                #expect(roster.key(number) == key)
            case (false, let number?): roster.remove(number)
            case (false, nil): break
            }
            model[key] = comes ? round : nil
            #expect(roster.count == model.count)
            #expect(roster.number(of: key).map { roster[$0] } == model[key])
        }
        #expect(roster.numbers.count { _ in true } == model.count)
        for (key, value) in model { #expect(roster.number(of: key).map { roster[$0] } == value) }
    }
}
