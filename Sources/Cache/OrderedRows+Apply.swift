extension OrderedRows {
    /// Gives rows new keys, takes rows out (nil) and puts new ones in, and tells what that did.
    ///
    /// It costs a search in the logarithm of the rows for each row that is touched, and two passes over the rows' numbers,
    /// which for a million of them are sixteen megabytes moved.
    mutating func apply(_ changes: [(row: Int64, key: SortKey?)]) -> RowDifference {
        var removed: [(place: Int, row: Int64)] = []
        var added: [Int64] = []
        var updated: [Int64] = []
        // All are looked up before any key changes: until then the rows are in the order of the old keys.
        for (row, key) in changes {
            switch (index(of: row), key) {
            case (nil, nil): break
            case (let place?, nil): removed.append((place, row))
            case (nil, .some): added.append(row)
            case (let place?, let key?):
                if hasKey(key, row) {
                    updated.append(row)
                } else {
                    removed.append((place, row))
                    added.append(row)
                }
            }
        }
        removed.sort { $0.place < $1.place }
        remove(at: removed.map(\.place))
        for (row, key) in changes {
            if let key { setKey(key, of: row) } else { removeKey(of: row) }
        }
        added.sort(by: precedes)
        let places = insert(added)
        compact()
        return difference(removed: removed, added: zip(added, places), updated: updated)
    }

    /// A row that went and came has moved.
    private func difference(
        removed: [(place: Int, row: Int64)], added: some Sequence<(Int64, Int)>, updated: [Int64]
    ) -> RowDifference {
        var difference = RowDifference()
        var origins = Dictionary(uniqueKeysWithValues: removed.map { ($0.row, $0.place) })
        for (row, place) in added {
            if let origin = origins.removeValue(forKey: row) {
                difference.moved.append(RowDifference.Move(from: origin, to: place))
            } else {
                difference.inserted.append(place)
            }
        }
        difference.deleted = origins.values.sorted()
        difference.updated = updated.compactMap { index(of: $0) }.sorted()
        return difference
    }
}
