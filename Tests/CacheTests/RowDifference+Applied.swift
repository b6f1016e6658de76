@testable import Cache

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
