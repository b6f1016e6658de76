import Model

/// Decides how many transfers run at once, and which of them have to make room.
///
/// A governor is a value without a clock: it is told what happens and what time it is, in seconds since whenever, and
/// answers. So a test drives it through thousands of networks, and what it does on each can be repeated.
///
///     var governor: any Governor = AdaptiveGovernor()
///     if case .now(let way) = governor.admit(candidate, at: now) {
///         governor.noteStart(of: 1, candidate, over: way, at: now)
///     }
///     governor.note(.answered(wait: 0.1, length: 12_000, isShared: false), of: 1, at: now)
///     for transfer in governor.advance(to: now, waiting: { queue.count(of: $0) }) { … interrupt it … }
public protocol Governor: Sendable {
    /// Whether something may start now. Whoever starts it says so by ``noteStart(of:_:over:at:)``.
    mutating func admit(_ candidate: TransferCandidate, at now: Double) -> Admission
    /// Notes that something was started, under a number of its own.
    mutating func noteStart(
        of transfer: Int, _ candidate: TransferCandidate, over way: Admission.Way, at now: Double
    )
    /// In what pieces something that comes in some is to be asked for by now.
    func pieces(of transfer: Int) -> TransferPieces
    /// Notes what happens to something that was started.
    mutating func note(_ news: TransferNews, of transfer: Int, at now: Double)
    /// Notes that a host wants to be asked less: 429, 503, or connections that it resets.
    ///
    /// - Parameter silence: seconds for which it does not want to be asked at all, but for what the user waits for.
    mutating func noteComplaint(of host: String, silence: Double, at now: Double)
    /// Notes that the user wants a host to be asked, whatever it said of that.
    mutating func endSilence(of host: String)
    /// Notes that the system has come to be on a network, or on another one.
    mutating func noteNetwork(at now: Double)
    /// Lets time pass. Returns what should be interrupted, and put back into the queue, for something more important.
    ///
    /// - Parameter waiting: how many wait for that host that could have been started.
    mutating func advance(to now: Double, waiting: (String) -> Int) -> [Int]
    /// What hangs, and is to be asked for once more beside it, each over such a way. It is named once; whoever asks says so by
    /// ``noteStart(of:_:over:at:)``, under another number, and what comes first counts.
    mutating func takeHanging(at now: Double) -> [Int: Admission.Way]
    /// Seconds after which something hangs if nothing comes of it before; nil if nothing does that is to be asked for once more.
    func patience(at now: Double) -> Double?
    /// Seconds after which ``advance(to:waiting:)`` should be called though nothing has happened; nil if it need not be.
    ///
    /// - Parameter waiting: how many wait for that host by now. More may do so than at the last look.
    func pace(at now: Double, waiting: (String) -> Int) -> Double?
    /// What it has found out about hosts, for the next run to begin with.
    var history: HostHistory { get }
    /// What there is to say about it.
    var report: GovernorReport { get }
}

/// A governor's answer to whether something may start.
public enum Admission: Hashable, Sendable {
    /// It may, by such a way.
    case now(Way)
    /// Not yet, nor anything else from that host.
    case hostIsBusy
    /// Not yet, nor anything less important.
    case linkIsBusy

    /// How it is to be transferred.
    public struct Way: Hashable, Sendable {
        /// Over which connection.
        public let connection: Connection
        /// Whether it is to come in pieces, if the host can do that: see ``Governor/pieces(of:)``.
        public let isInPieces: Bool

        /// A way in pieces, or in one.
        public init(_ connection: Connection, inPieces: Bool = false) {
            (self.connection, isInPieces) = (connection, inPieces)
        }

        /// Over whatever is there.
        public static let any = Way(.any)
        /// Over a new connection.
        public static let fresh = Way(.fresh)
        /// Over one that few share.
        public static let few = Way(.few)
    }

    /// What it is to be transferred over.
    public enum Connection: Hashable, Sendable {
        /// Whatever is there: shared with others, as HTTP/2 has it, if the host can do that.
        case any
        /// A new one: on a busy link those that are there have learned to be slow.
        case fresh
        /// One that is not shared, for one of many pieces.
        case unshared
        /// One of many that few share. Where packets get lost, one connection is held up by each of them, and many are not.
        case few
    }
}

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

/// What a governor thinks of the network.
public struct GovernorReport: Hashable, Sendable {
    /// How good it is, as measured; nil as long as nothing is.
    public var quality: LinkQuality?
    /// Hosts that could not be reached at the last attempt.
    public var missed: Set<String> = []
    /// Hosts that cannot be reached. One thing at a time is tried of them, and the others have to wait.
    public var unreachable: Set<String> = []
    /// Until when hosts do not want to be asked, in a governor's seconds. What is over may still be among it.
    public var silences: [String: Double] = [:]
    /// How many small transfers it lets run at once, if there are enough: never more than the limit.
    public var width = 0
    /// How many transfers it would let run at most.
    public var limit = 0
    /// Bytes that it keeps asked for and not delivered.
    public var window: Double = 0
    /// Bytes a second that come when there is enough to do.
    public var bandwidth: Double?
    /// Seconds that a question and its answer take at least.
    public var roundTrip: Double?

    /// Says nothing yet.
    public init() {}
}
