import TestSupport
import Testing

@testable import Cache

/// Random changes. Their difference, applied to the old list, must give the new one.
@Suite struct OrderedRowsTests {
    @Test(arguments: [true, false], [true, false])
    func differencesLeadToTheNewList(texts: Bool, reversed: Bool) {
        for seed in 0..<300 as Range<UInt64> {
            var random = SeededNumbers(seed: seed * 2 + (texts ? 1 : 0))
            var model: [Int64: SortKey] = [:]
            var rows = OrderedRows(pieceSize: 2)
            for _ in 0..<8 {
                let changes = randomChanges(texts, &random)
                let old = shown(rows, reversed)
                var difference = rows.apply(changes.map { RowKey($0.row, $0.key) })
                for (row, key) in changes { model[row] = key }
                if reversed { difference = difference.reversed(oldCount: old.count, newCount: rows.count) }
                #expect(all(rows) == sorted(model))
                #expect(difference.applied(to: old, new: shown(rows, reversed)) == shown(rows, reversed))
                for (index, row) in all(rows).enumerated() { #expect(rows.index(of: row) == index) }
            }
        }
    }

    @Test("Many replaced keys do not disturb the order of the rows")
    func replacedKeys() {
        var rows = OrderedRows(pieceSize: 2)
        func key(_ row: Int64, _ round: Int64) -> SortKey {
            .text(Array("\(row * round % 101) ".utf8) + [UInt8](repeating: 0x61, count: 1_000))
        }
        var model: [Int64: SortKey] = [:]
        for round: Int64 in 1...5 {
            for row: Int64 in 1...100 { model[row] = key(row, round) }
            _ = rows.apply(model.map { RowKey($0.key, $0.value) })
            #expect(all(rows) == sorted(model), "\(round)")
        }
        _ = rows.apply([RowKey(50, nil)])
        model[50] = nil
        #expect(all(rows) == sorted(model))
    }

    @Test("A range of indices has its rows")
    func ranges() {
        var rows = OrderedRows(pieceSize: 2)
        _ = rows.apply((1...7).map { RowKey($0, .number(-$0)) })
        for range in [0..<0, 0..<7, 1..<2, 2..<5] {
            let keys = rows.keys(in: range)
            #expect((1...7).filter { keys.contains($0) } == all(rows)[range].sorted(), "\(range)")
        }
    }

    @Test("The rows in a set have the list's order, or the reverse order")
    func setsOfRows() {
        var rows = OrderedRows(pieceSize: 2)
        _ = rows.apply((1...7).map { RowKey($0, .number(-$0)) })
        for numbers in [[], [4], [1, 7], [2, 3, 6, 9], Array(1...7)] as [[Int64]] {
            var set = KeySet()
            for number in numbers { set.insert(number) }
            let expected = all(rows).filter { set.contains($0) }
            #expect(rows.members(of: set, isReversed: false) == expected, "\(numbers)")
            #expect(rows.members(of: set, isReversed: true) == expected.reversed(), "\(numbers)")
        }
    }

    private func randomChanges(_ texts: Bool, _ random: inout SeededNumbers) -> [(row: Int64, key: SortKey?)] {
        var touched: Set<Int64> = []
        while touched.count < Int.random(in: 0...6, using: &random) {
            touched.insert(.random(in: 1...12, using: &random))
        }
        return touched.sorted().map { row in
            guard Int.random(in: 0..<4, using: &random) > 0 else { return (row, nil) }
            let number = Int64.random(in: -3...3, using: &random)
            return (row, texts ? .text(Array("n\(number)".utf8)) : .number(number))
        }
    }

    private func all(_ rows: OrderedRows) -> [Int64] { (0..<rows.count).map { rows[$0] } }

    private func shown(_ rows: OrderedRows, _ reversed: Bool) -> [Int64] {
        reversed ? all(rows).reversed() : all(rows)
    }

    private func sorted(_ model: [Int64: SortKey]) -> [Int64] {
        model.sorted { left, right in
            switch (left.value, right.value) {
            case (.number(let a), .number(let b)): (a, left.key) < (b, right.key)
            case (.text(let a), .text(let b)):
                a == b ? left.key < right.key : a.lexicographicallyPrecedes(b)
            default: false
            }
        }.map(\.key)
    }
}

extension RowDifference {
    /// Rearranges the rows of the old list like a list view.
    func applied(to old: [Int64], new: [Int64]) -> [Int64] {
        var list: [Int64?] = old
        for index in deleted + moved.map(\.from) { list[index] = nil }
        var result = list.compactMap { $0 }
        let arrivals = inserted.map { ($0, new[$0]) } + moved.map { ($0.to, old[$0.from]) }
        for (index, row) in arrivals.sorted(by: { $0.0 < $1.0 }) {
            guard index <= result.count else { return [] }
            result.insert(row, at: index)
        }
        return result
    }
}
