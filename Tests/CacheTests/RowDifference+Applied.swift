@testable import Cache

extension RowDifference {
    /// What a list view does with it: the old list's rows, rearranged.
    func applied(to old: [Int64], new: [Int64]) -> [Int64] {
        var list: [Int64?] = old
        for place in deleted + moved.map(\.from) { list[place] = nil }
        var result = list.compactMap { $0 }
        let arrivals = inserted.map { ($0, new[$0]) } + moved.map { ($0.to, old[$0.from]) }
        for (place, row) in arrivals.sorted(by: { $0.0 < $1.0 }) {
            guard place <= result.count else { return [] }
            result.insert(row, at: place)
        }
        return result
    }
}
