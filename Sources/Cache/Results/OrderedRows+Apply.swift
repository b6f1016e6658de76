extension OrderedRows {
    /// Gives rows new keys, takes rows out and puts new ones in, and tells what that did.
    ///
    /// For each row that is touched it costs a few searches in the logarithm of the rows, and a piece of a few hundred rows
    /// moved; for all of them together, a pass over the pieces' lengths (see ``RowList``).
    mutating func apply(_ changes: [RowKey]) -> RowDifference {
        var removed: [(place: Int, row: Int64)] = []
        var added: [Int64] = []
        var updated: [Int64] = []
        // All are looked up before any key changes: until then the rows are in the order of the old keys.
        let isSame = changes.map { change in change.key.map { hasKey($0, change.row) } ?? false }
        for (change, isSame) in zip(changes, isSame) {
            switch (index(of: change.row), change.isListed) {
            case (nil, false): break
            case (let place?, false): removed.append((place, change.row))
            case (nil, true): added.append(change.row)
            case (.some, true) where isSame: updated.append(change.row)
            case (let place?, true):
                removed.append((place, change.row))
                added.append(change.row)
            }
        }
        removed.sort { $0.place < $1.place }
        remove(at: removed.map(\.place))
        for (change, isSame) in zip(changes, isSame) where !isSame {
            if let key = change.key { setKey(key, of: change.row) } else { removeKey(of: change.row) }
        }
        insert(added)
        compact()
        let places = added.compactMap { row in index(of: row).map { (place: $0, row: row) } }.sorted { $0 < $1 }
        return difference(removed: removed, added: places, updated: updated)
    }

    /// A row that went and came has moved.
    private func difference(
        removed: [(place: Int, row: Int64)], added: [(place: Int, row: Int64)], updated: [Int64]
    ) -> RowDifference {
        var difference = RowDifference()
        var origins = Dictionary(uniqueKeysWithValues: removed.map { ($0.row, $0.place) })
        for (place, row) in added {
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
