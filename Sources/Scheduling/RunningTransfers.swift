/// The running transfers, sorted by number.
///
/// The order is fixed because sums of floating-point numbers depend on it, and decisions must be repeatable. At most
/// about a hundred transfers run, so searching an array is fast.
struct RunningTransfers: Sequence {
    private var entries: [(number: Int, transfer: RunningTransfer)] = []

    var count: Int { entries.count }
    var isEmpty: Bool { entries.isEmpty }

    func makeIterator() -> IndexingIterator<[(number: Int, transfer: RunningTransfer)]> { entries.makeIterator() }

    subscript(number: Int) -> RunningTransfer? {
        get { entries.firstIndex { $0.number == number }.map { entries[$0].transfer } }
        set {
            let index = entries.firstIndex { $0.number >= number } ?? entries.endIndex
            let isPresent = index < entries.endIndex && entries[index].number == number
            switch (newValue, isPresent) {
            case (let transfer?, true): entries[index].transfer = transfer
            case (let transfer?, false): entries.insert((number, transfer), at: index)
            case (nil, true): entries.remove(at: index)
            case (nil, false): break
            }
        }
    }
}

/// A governor's record of a running transfer.
struct RunningTransfer {
    var candidate: TransferCandidate
    /// Whether the transfer is part of a ``SharingTrial``.
    var isTrial = false
    /// Whether the transfer uses a shared connection that the governor has left. It then fills no part of the window.
    var isLeft = false
    /// Whether the transfer hung and was requested a second time. The value is also true for the second request.
    var isRepeated: Bool
    /// Whether the transfer was interrupted so that another transfer of its host can start.
    var isGivenUp = false
    /// The time of the transfer's last event, or of its request.
    var sign: Double
    /// Whether the answer has begun.
    var isAnswered = false
    /// The number of bytes received in this attempt.
    var received = 0.0
    /// The number of bytes requested in this attempt; nil for a transfer in one request.
    var asked: Double?
    /// The body length of this attempt; nil until it is known.
    var length: Double?
    /// The time when the request was sent; nil once the answer has begun, and after a change of the network.
    var askTime: Double?
    /// The time when the current bandwidth sample began.
    var sampleTime: Double
    /// The number of bytes that the host had delivered when the sample began.
    var deliveredAtSample: Double
    /// Whether there was enough to transfer during the whole sample. Otherwise the sample shows only the demand.
    var isSaturated = true

    /// Whether the user waits for the transfer, and it comes over a network.
    var isUrgent: Bool { candidate.isUrgent && !candidate.isLocal }
    /// Whether the transfer fetches the photo that the viewer shows.
    var isLookedAt: Bool { candidate.importance >= .lookedAt && !candidate.isLocal }
    /// Whether the transfer sends a file.
    var isUpload: Bool { candidate.kind == .upload }
    /// Whether the transfer takes so long that it is sampled as its bytes arrive.
    var isLong: Bool { candidate.kind == .photo || isUpload }

    /// Returns the number of bytes still to come, at least one packet.
    ///
    /// - Parameter size: the assumed size, until the server has stated it.
    func rest(expecting size: Double) -> Double {
        // The server will probably answer in one packet that the stored version is current.
        if candidate.isAskedAfter, !isAnswered { return Self.packet }
        return max((length ?? candidate.length ?? size - candidate.held) - received, Self.packet)
    }

    private static let packet = 1448.0
}
