/// What runs, by number, and in the order of the numbers: what is added up in another order is another sum, by a hair, and what
/// is done is to be the same each time.
///
/// There are a hundred of them at most. They are gone through thousands of times a second, and come and go less often.
struct RunningTransfers: Sequence {
    private var entries: [(number: Int, transfer: RunningTransfer)] = []

    var count: Int { entries.count }
    var isEmpty: Bool { entries.isEmpty }

    func makeIterator() -> IndexingIterator<[(number: Int, transfer: RunningTransfer)]> { entries.makeIterator() }

    subscript(number: Int) -> RunningTransfer? {
        get {
            let place = place(of: number)
            return isThere(number, place) ? entries[place].transfer : nil
        }
        set {
            let place = place(of: number)
            switch (newValue, isThere(number, place)) {
            case (let transfer?, true): entries[place].transfer = transfer
            case (let transfer?, false): entries.insert((number, transfer), at: place)
            case (nil, true): entries.remove(at: place)
            case (nil, false): break
            }
        }
    }

    private func isThere(_ number: Int, _ place: Int) -> Bool {
        place < entries.count && entries[place].number == number
    }

    /// Where it stands, or would.
    private func place(of number: Int) -> Int {
        var (low, high) = (0, entries.count)
        while low < high {
            let middle = (low + high) / 2
            if entries[middle].number < number { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
