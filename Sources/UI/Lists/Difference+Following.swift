import Cache

extension Difference {
    /// Whether photos may have gone.
    var removes: Bool {
        switch self {
        case .reset: true
        case .rows(let rows): !rows.deleted.isEmpty
        }
    }

    /// Where the row stands now that followed a row which is gone.
    ///
    /// If none of those that followed it is left, the same place is as good as any.
    ///
    /// - Parameters:
    ///   - row: the place of the one that is gone, in the old list.
    ///   - count: the length of the new list.
    func placeFollowing(_ row: Int, count: Int) -> Int {
        guard case .rows(let rows) = self else { return row }
        let leftBefore = (rows.deleted + rows.moved.map(\.from)).filter { $0 < row }.count
        // Counted among the rows that stayed; each that came in at or before it moves it down by one.
        var place = row - leftBefore
        for new in (rows.inserted + rows.moved.map(\.to)).sorted() where new <= place { place += 1 }
        return place < count ? place : row
    }
}
