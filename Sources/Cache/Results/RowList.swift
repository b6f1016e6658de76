/// The numbers of a long list's rows, in pieces: whoever puts a row in or takes one out moves a piece, not the list.
///
/// A million rows take four megabytes and some two thousand pieces. To find a row's place costs a search among the pieces
/// and one within a piece; to change the list costs that and a pass over the pieces' lengths.
struct RowList: Sendable {
    /// Pieces are cut in two when they become twice as long.
    private let pieceSize: Int

    /// None of them is empty. A row's number fits: see ``SchemaCheck/rows``.
    private var pieces: ContiguousArray<ContiguousArray<Int32>> = []
    /// Where each piece begins in the list.
    private var starts: ContiguousArray<Int> = []
    private(set) var count = 0

    /// An empty list.
    init(pieceSize: Int = 512) {
        self.pieceSize = pieceSize
    }

    /// The row at a place.
    subscript(place: Int) -> Int64 {
        let piece = Self.lastIndex(in: starts) { $0 <= place }
        return Int64(pieces[piece][place - starts[piece]])
    }

    /// Adds the row that comes last.
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

    /// How many rows come before the first that is not before something. Rows that are come first.
    func partitionIndex(_ isBefore: (Int64) -> Bool) -> Int {
        guard let (piece, offset) = position(isBefore) else { return count }
        return starts[piece] + offset
    }

    /// Takes out the rows at these places, which ascend.
    mutating func remove(at places: [Int]) {
        guard !places.isEmpty else { return }
        // From the end, so that the places of the others hold.
        for place in places.reversed() {
            let piece = Self.lastIndex(in: starts) { $0 <= place }
            pieces[piece].remove(at: place - starts[piece])
        }
        pieces.removeAll { $0.isEmpty }
        count -= places.count
        measure()
    }

    /// Puts a row before all that are not before it. ``measure()`` has to be called before anybody asks for a place.
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

    /// Puts rows, in any order, where they belong.
    mutating func insert(_ rows: [Int64], _ precedes: (Int64, Int64) -> Bool) {
        guard !rows.isEmpty else { return }
        for row in rows { insert(row, precedes) }
        count += rows.count
        measure()
    }

    /// Those of them that are in a set, in the same order.
    func filtered(by set: KeySet) -> RowList {
        var filtered = RowList(pieceSize: pieceSize)
        // Whether a row is in there is anybody's guess, the processor's too: so each is written down, and the next one over
        // it if it was not.
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

    /// Hands out each row, from first to last.
    func forEach(_ body: (Int64) -> Void) {
        for piece in pieces {
            for row in piece { body(Int64(row)) }
        }
    }

    /// Hands out the rows at these places, in order.
    func forEach(in places: Range<Int>, _ body: (Int64) -> Void) {
        var rest = places.clamped(to: 0..<count)
        while let place = rest.first {
            let piece = Self.lastIndex(in: starts) { $0 <= place }
            let end = min(rest.upperBound, starts[piece] + pieces[piece].count)
            for row in pieces[piece][(place - starts[piece])..<(end - starts[piece])] { body(Int64(row)) }
            rest = end..<rest.upperBound
        }
    }

    /// The first row that is not before something: its piece, and its place in there. Asks nothing of the pieces' starts.
    private func position(_ isBefore: (Int64) -> Bool) -> (piece: Int, offset: Int)? {
        // The last piece whose first row is before it, or the first one.
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

    private mutating func measure() {
        starts.removeAll(keepingCapacity: true)
        var start = 0
        for piece in pieces {
            starts.append(start)
            start += piece.count
        }
    }

    /// The last element of which something is true, all such coming first; zero if it is true of none.
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
