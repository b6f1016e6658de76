import Model

extension GalleryList {
    /// What both have made of a list: this one, and somebody else who began with the same.
    ///
    ///     let list = mine.merging(theirs, since: before)
    ///
    /// What one of both has added is there, and what one has removed is not. Of what both have changed, and of the order if
    /// both have changed that, this one counts.
    ///
    /// - Parameter before: what both began with.
    public func merging(_ theirs: GalleryList, since before: GalleryList) -> GalleryList {
        guard theirs != before else { return self }
        guard self != before else { return theirs }
        var merged = theirs
        let (kept, known) = (lines(of: self), lines(of: before))
        merged.lines.removeAll { line in
            line.address.map { known[$0] != nil && kept[$0] == nil } ?? false
        }
        for index in merged.lines.indices {
            guard let address = merged.lines[index].address, let mine = kept[address], mine != known[address] else {
                continue
            }
            merged.lines[index] = mine
        }
        let there = Set(merged.addresses)
        merged.lines += lines.filter { line in
            line.address.map { known[$0] == nil && !there.contains($0) } ?? false
        }
        if isReordered(since: before) { merged.adoptOrder(of: self) }
        return merged
    }

    private func lines(of list: GalleryList) -> [Address: GalleryLine] {
        var lines: [Address: GalleryLine] = [:]
        for line in list.lines { if let address = line.address { lines[address] = line } }
        return lines
    }

    private func isReordered(since before: GalleryList) -> Bool {
        let (now, then) = (Set(addresses), Set(before.addresses))
        return addresses.filter { then.contains($0) } != before.addresses.filter { now.contains($0) }
    }

    /// The places of those that both have are filled with them in the other's order; everything else stays where it is.
    private mutating func adoptOrder(of other: GalleryList) {
        let (mine, others) = (lines(of: self), Set(other.addresses))
        let places = lines.indices.filter { lines[$0].address.map { others.contains($0) } ?? false }
        for (place, line) in zip(places, other.addresses.compactMap { mine[$0] }) { lines[place] = line }
    }
}
