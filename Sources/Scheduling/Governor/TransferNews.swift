import Model

/// What happens to a transfer, as far as a governor wants to know.
public enum TransferNews: Hashable, Sendable {
    /// A connection was made for it; the seconds that TCP took.
    case connected(Double)
    /// The answer begins: the seconds since the request was sent, how many bytes of body are to come where that is said,
    /// and whether all others share the connection.
    case answered(wait: Double, length: Double?, isShared: Bool)
    /// That was not the answer yet: another server has been asked, or this one again.
    case askedAgain
    /// So many bytes of body have come, all in all.
    case received(Double)
    /// So many bytes have been asked for, all in all, of what comes in pieces; nil if it comes in one after all.
    case asked(Double?)
    /// So many packets have come over its connection since this was last said of that one, so many of them out of their
    /// order; and the seconds that it takes of late until a packet is acknowledged, queues and all, where that is known.
    case packets(Int, disordered: Int, roundTrip: Double?)
    /// It is wanted more, or less, than it was.
    case importance(Importance)
    /// It is over.
    case ended(Ending)

    /// How a transfer can end.
    public enum Ending: Hashable, Sendable {
        /// All is here, or the server answered that there is nothing.
        case completed
        /// Nobody wants it any more, or it was interrupted for something else.
        case cancelled
        /// There was no way to the host.
        case unreachable
        /// Anything else that says nothing about the host.
        case failed
    }
}
