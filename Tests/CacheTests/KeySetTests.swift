import TestSupport
import Testing

@testable import Cache

@Suite struct KeySetTests {
    /// Random numbers, some of them far beyond those with a bit.
    private func numbers(_ random: inout SeededNumbers) -> Set<Int64> {
        Set(
            (0..<40).map { _ in
                let number = Int64.random(in: 0...200, using: &random)
                return Int.random(in: 0..<8, using: &random) == 0 ? number << 40 : number
            })
    }

    private func set(_ numbers: Set<Int64>) -> KeySet {
        var set = KeySet()
        for number in numbers { set.insert(number) }
        return set
    }

    @Test("A removal says whether the number was there", arguments: [3, 1 << 40])
    func removals(number: Int64) {
        var set = set([number])
        #expect(set.remove(number) && !set.remove(number) && !set.remove(number + 1) && set.isEmpty)
    }

    @Test("A single large number has a place", arguments: [65_535, 65_536, 65_599, 65_600, 1 << 22, (1 << 22) + 1])
    func largeNumbers(number: Int64) {
        let set = set([number])
        #expect(set.contains(number) && !set.contains(number - 1) && !set.contains(number + 1) && set.count == 1)
    }

    @Test func aKeySetBehavesLikeASet() {
        var random = SeededNumbers(seed: 1)
        for _ in 0..<200 {
            let (left, right) = (numbers(&random), numbers(&random))
            let operations: [(inout KeySet, KeySet) -> Void] = [
                { $0.formUnion($1) }, { $0.subtract($1) }, { $0.formIntersection($1) },
                { $0.formSymmetricDifference($1) }, { set, other in for number in right { set.remove(number) } },
            ]
            let expected = [
                left.union(right), left.subtracting(right), left.intersection(right), left.symmetricDifference(right),
                left.subtracting(right),
            ]
            for (operation, expected) in zip(operations, expected) {
                var result = set(left)
                operation(&result, set(right))
                #expect(result.count == expected.count && result.isEmpty == expected.isEmpty)
                let isRight = left.union(right).allSatisfy { result.contains($0) == expected.contains($0) }
                #expect(isRight)
            }
        }
    }

    @Test func aMillionPhotosTakeAHundredKilobytes() {
        var set = KeySet()
        for number in 1...1_000_000 as ClosedRange<Int64> { set.insert(number) }
        var other = KeySet()
        other.formUnion(set)
        for set in [set, other] { #expect(set.count == 1_000_000 && set.words.count * 8 < 135_000) }
    }

    @Test func keysOfAnyRangeOfAList() {
        var list = RowList(pieceSize: 3)
        for row in 1...20 as ClosedRange<Int64> { list.append(row * 2) }
        for start in 0...20 {
            for end in start...20 {
                var rows: [Int64] = []
                list.forEach(in: start..<end) { rows.append($0) }
                #expect(rows == (start..<end).map { list[$0] })
            }
        }
        var none = 0
        RowList().forEach(in: 0..<3) { _ in none += 1 }
        #expect(none == 0)
    }
}
