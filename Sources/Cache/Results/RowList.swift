/// The row numbers of a long list, stored in pieces.
///
/// A change moves the rows of one piece and not those of the whole list.
///
/// A million rows take 4 MB in some 2,000 pieces. A lookup costs two binary searches. A change also costs a pass over
/// the pieces' lengths.
struct RowList: Sendable {
    /// The usual number of rows per piece. A piece of twice this length is split.
    private let pieceSize: Int

    /// The pieces, none of which is empty. Every row number fits 32 bits; see ``SchemaCheck/rows``.
    private var pieces: ContiguousArray<ContiguousArray<Int32>> = []
    /// For each piece, the index of its first row.
    private var starts: ContiguousArray<Int> = []
    private(set) var count = 0

    /// Creates an empty list.
    init(pieceSize: Int = 512) {
        self.pieceSize = pieceSize
    }

    /// The number of the row at an index.
    subscript(index: Int) -> Int64 {
        let piece = Self.lastIndex(in: starts) { $0 <= index }
        return Int64(pieces[piece][index - starts[piece]])
    }

    /// Appends a row at the end.
    mutating func append(_ row: Int64) {
        if let last = pieces.last, last.count < pieceSize {
            pieces[pieces.count - 1].append(Int32(truncatingIfNeeded: row))
        } else {
            starts.append(count)
            var piece = ContiguousArray<Int32>()
            piece.reserveCapacity(pieceSize)
            piece.append(Int32(truncatingIfNeeded: row))
            pieces.append(piece)
        }
        count += 1
    }

    /// Returns the index of the first row for which `isBefore` is false. All rows for which `isBefore` is true must
    /// come first.
    func partitionIndex(_ isBefore: (Int64) -> Bool) -> Int {
        guard let (piece, offset) = position(isBefore) else { return count }
        return starts[piece] + offset
    }

    /// Removes the rows at ascending indices.
    mutating func remove(at indices: [Int]) {
        guard !indices.isEmpty else { return }
        // In reverse order, so that the other indices remain valid.
        for index in indices.reversed() {
            let piece = Self.lastIndex(in: starts) { $0 <= index }
            pieces[piece].remove(at: index - starts[piece])
        }
        pieces.removeAll { $0.isEmpty }
        count -= indices.count
        measure()
    }

    /// Inserts a row at its sorted position. Call ``measure()`` before the next lookup by index.
    private mutating func insert(_ row: Int64, _ precedes: (Int64, Int64) -> Bool) {
        let (piece, offset) =
            position { precedes($0, row) } ?? (max(0, pieces.count - 1), pieces.last?.count ?? 0)
        if pieces.isEmpty { pieces.append([]) }
        pieces[piece].insert(Int32(truncatingIfNeeded: row), at: offset)
        guard pieces[piece].count >= 2 * pieceSize else { return }
        let second = ContiguousArray(pieces[piece].suffix(from: pieceSize))
        pieces[piece].removeLast(second.count)
        pieces.insert(second, at: piece + 1)
    }

    /// Inserts rows, given in any order, at their sorted positions.
    mutating func insert(_ rows: [Int64], _ precedes: (Int64, Int64) -> Bool) {
        guard !rows.isEmpty else { return }
        for row in rows { insert(row, precedes) }
        count += rows.count
        measure()
    }

    /// Returns the rows that are in a set, in the same order.
    func filtered(by set: KeySet) -> RowList {
        var filtered = RowList(pieceSize: pieceSize)
        // Membership is random, so the processor would often mispredict a branch. Instead the loop writes every row,
        // and the next row overwrites a row that is not in the set.
        var kept = ContiguousArray<Int32>(repeating: 0, count: 3 * pieceSize)
        var count = 0
        for piece in pieces {
            for row in piece {
                kept[count] = row
                count += set.contains(Int64(row)) ? 1 : 0
            }
            while count >= pieceSize {
                filtered.add(kept[..<pieceSize])
                kept.replaceSubrange(..<(count - pieceSize), with: kept[pieceSize..<count])
                count -= pieceSize
            }
        }
        filtered.add(kept[..<count])
        return filtered
    }

    private mutating func add(_ piece: ContiguousArray<Int32>.SubSequence) {
        guard !piece.isEmpty else { return }
        starts.append(count)
        pieces.append(ContiguousArray(piece))
        count += piece.count
    }

    /// Returns the rows that are in a set, in order or in reverse order. The search ends at the last of them.
    func members(of set: KeySet, isReversed: Bool) -> [Int64] {
        var found: [Int64] = []
        guard !set.isEmpty else { return found }
        for number in pieces.indices {
            let piece = pieces[isReversed ? pieces.count - 1 - number : number]
            for offset in piece.indices {
                let row = Int64(piece[isReversed ? piece.count - 1 - offset : offset])
                guard set.contains(row) else { continue }
                found.append(row)
                if found.count == set.count { return found }
            }
        }
        return found
    }

    /// Calls `body` for each row in order.
    func forEach(_ body: (Int64) -> Void) {
        for piece in pieces {
            for row in piece { body(Int64(row)) }
        }
    }

    /// Calls `body` for the rows in a range of indices, in order.
    func forEach(in range: Range<Int>, _ body: (Int64) -> Void) {
        var rest = range.clamped(to: 0..<count)
        while let index = rest.first {
            let piece = Self.lastIndex(in: starts) { $0 <= index }
            let end = min(rest.upperBound, starts[piece] + pieces[piece].count)
            for row in pieces[piece][(index - starts[piece])..<(end - starts[piece])] { body(Int64(row)) }
            rest = end..<rest.upperBound
        }
    }

    /// Returns the piece and offset of the first row for which `isBefore` is false. The method does not use `starts`.
    private func position(_ isBefore: (Int64) -> Bool) -> (piece: Int, offset: Int)? {
        // The last piece whose first row satisfies `isBefore`, or else the first piece.
        let piece = Self.lastIndex(in: pieces) { isBefore(Int64($0[0])) }
        guard piece < pieces.count else { return nil }
        var (low, high) = (0, pieces[piece].count)
        while low < high {
            let middle = (low + high) / 2
            if isBefore(Int64(pieces[piece][middle])) { low = middle + 1 } else { high = middle }
        }
        if low < pieces[piece].count { return (piece, low) }
        return piece + 1 < pieces.count ? (piece + 1, 0) : nil
    }

    /// Recomputes `starts` from the lengths of the pieces.
    private mutating func measure() {
        starts.removeAll(keepingCapacity: true)
        var start = 0
        for piece in pieces {
            starts.append(start)
            start += piece.count
        }
    }

    /// Returns the index of the last element for which `isTrue` holds. All such elements must come first. Returns 0 if
    /// `isTrue` holds for no element.
    private static func lastIndex<Element>(
        in elements: ContiguousArray<Element>, where isTrue: (Element) -> Bool
    ) -> Int {
        var (low, high) = (0, elements.count)
        while low < high {
            let middle = (low + high) / 2
            if isTrue(elements[middle]) { low = middle + 1 } else { high = middle }
        }
        return max(0, low - 1)
    }
}
