/// The running transfers, sorted by number.
///
/// The order is fixed because sums of floating-point numbers depend on it, and decisions must be repeatable. At most
/// about a hundred run. They are read thousands of times a second and change less often, so a sorted array is fastest.
struct RunningTransfers: Sequence {
    private var entries: [(number: Int, transfer: RunningTransfer)] = []

    var count: Int { entries.count }
    var isEmpty: Bool { entries.isEmpty }

    func makeIterator() -> IndexingIterator<[(number: Int, transfer: RunningTransfer)]> { entries.makeIterator() }

    subscript(number: Int) -> RunningTransfer? {
        get {
            let index = index(of: number)
            return isPresent(number, at: index) ? entries[index].transfer : nil
        }
        set {
            let index = index(of: number)
            switch (newValue, isPresent(number, at: index)) {
            case (let transfer?, true): entries[index].transfer = transfer
            case (let transfer?, false): entries.insert((number, transfer), at: index)
            case (nil, true): entries.remove(at: index)
            case (nil, false): break
            }
        }
    }

    private func isPresent(_ number: Int, at index: Int) -> Bool {
        index < entries.count && entries[index].number == number
    }

    /// The index of the first entry whose number is not less.
    private func index(of number: Int) -> Int {
        var (low, high) = (0, entries.count)
        while low < high {
            let middle = (low + high) / 2
            if entries[middle].number < number { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

/// A governor's record of a running transfer.
struct RunningTransfer {
    var candidate: TransferCandidate
    /// Whether it is part of a ``SharingTrial``.
    var isTrial = false
    /// Whether it runs over a shared connection that its host has left since. It no longer counts against the window.
    var isLeft = false
    /// Whether it was requested once more because it hung, or is that second request.
    var isRepeated: Bool
    /// Whether it was interrupted to free a place under its host's limit.
    var isGivenUp = false
    /// When its last event came or its request was sent.
    var sign: Double
    /// Whether its answer has begun.
    var isAnswered = false
    /// Bytes received in this attempt.
    var received = 0.0
    /// Bytes requested in this attempt, for a transfer in pieces.
    var asked: Double?
    /// The body length of this attempt, once known.
    var length: Double?
    /// When the request was sent; nil once it is answered.
    var askTime: Double?
    /// When the current bandwidth sample began.
    var sampleTime: Double
    /// Bytes that the host had delivered when the sample began.
    var deliveredAtSample: Double
    /// Whether there was enough to transfer during the whole sample. Otherwise the sample shows the demand, not the
    /// link.
    var isSaturated = true

    /// Whether the user waits for it, and it comes over a network.
    var isUrgent: Bool { candidate.isUrgent && !candidate.isLocal }
    /// Whether it is the photo on the screen.
    var isLookedAt: Bool { candidate.importance >= .lookedAt && !candidate.isLocal }

    /// Returns the bytes still to come, at least a packet.
    ///
    /// - Parameter size: the assumed size, until the server has given it.
    func rest(expecting size: Double) -> Double {
        // The answer is probably that the stored version is current.
        if candidate.isAskedAfter, !isAnswered { return Self.packet }
        return max((length ?? size - candidate.held) - received, Self.packet)
    }

    private static let packet = 1448.0
}
