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

/// A transfer under way, as its governor sees it.
struct RunningTransfer {
    var candidate: TransferCandidate
    /// Whether it is there to try a connection of its own.
    var isTrial = false
    /// Whether it goes over the shared connection, which has been left since: what is to come of it has a way of its own.
    var isLeft = false
    /// Whether it has been asked for once more, or is that itself.
    var isRepeated: Bool
    /// Whether it was interrupted so that something else has its place.
    var isGivenUp = false
    /// When something was last heard of it, or when the server was asked, and whether it has answered.
    var sign: Double
    var isAnswered = false
    /// Bytes that have come in this transfer.
    var received = 0.0
    /// Bytes that were asked for in this transfer, where that is not all at once.
    var asked: Double?
    /// Bytes that are to come in this transfer, once the answer says so.
    var length: Double?
    /// When the server was asked, as long as it has not answered.
    var askTime: Double?
    /// Since when what is delivered is measured, and how much its host had delivered by then.
    var sampleTime: Double
    var deliveredAtSample: Double
    /// Whether there was enough to do all the time since. Otherwise what was delivered says how much was asked for, and not
    /// what the link can carry.
    var isSaturated = true

    /// Whether the user waits for it, and the network is in between.
    var isUrgent: Bool { candidate.isUrgent && !candidate.isLocal }
    /// Whether it is what he looks at.
    var isLookedAt: Bool { candidate.importance >= .lookedAt && !candidate.isLocal }

    /// Bytes that are still to come.
    ///
    /// - Parameter size: what such a thing weighs in all, where it has not been said.
    func rest(expecting size: Double) -> Double {
        // If there is a new edition, its answer says so.
        if candidate.isAskedAfter, !isAnswered { return Self.packet }
        return max((length ?? size - candidate.held) - received, Self.packet)
    }

    /// No less than this is ever to come: who asks has something to get.
    private static let packet = 1448.0
}
