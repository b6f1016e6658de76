import Model

/// Decides how many transfers run, and which of them to interrupt.
///
/// A governor is a value without a clock. The caller tells the governor each event with its time, in seconds since any
/// fixed moment. So tests can run a governor in simulated networks, and can repeat each run.
///
///     var governor: any Governor = AdaptiveGovernor()
///     if case .now(let way) = governor.admit(candidate, at: now) {
///         governor.recordStart(of: 1, candidate, over: way, at: now)
///     }
///     governor.record(.answered(wait: 0.1, length: 12_000, isShared: false), of: 1, at: now)
///     for transfer in governor.advance(to: now, waiting: { queue.count(of: $0) }) { … interrupt it … }
public protocol Governor: Sendable {
    /// Decides whether a transfer may start now.
    ///
    /// If the caller starts the transfer, it calls ``recordStart(of:_:over:at:)``.
    mutating func admit(_ candidate: TransferCandidate, at now: Double) -> Admission
    /// Records that a transfer was started, under a number that no other transfer has.
    mutating func recordStart(of transfer: Int, _ candidate: TransferCandidate, over way: Admission.Way, at now: Double)
    /// Returns the sizes of the pieces that a transfer may request now.
    func pieces(of transfer: Int) -> TransferPieces
    /// Records an event of a running transfer.
    mutating func record(_ event: TransferEvent, of transfer: Int, at now: Double)
    /// Records that a host refused a request, with 429, 503, or a reset connection.
    ///
    /// - Parameter silence: the seconds for which the host wants no requests, except those that the user waits for.
    mutating func recordComplaint(of host: String, silence: Double, at now: Double)
    /// Allows requests to a host again. The caller uses this when the user asks for a retry.
    mutating func endSilence(of host: String)
    /// Records that this machine joined a network or changed to another one.
    mutating func recordNetworkChange(at now: Double)
    /// Evaluates the measurements up to a time. Returns the transfers to interrupt and put back into the queue.
    ///
    /// - Parameter waiting: returns the number of waiting transfers of a host that could start.
    mutating func advance(to now: Double, waiting: (String) -> Int) -> [Int]
    /// Returns the hanging transfers that the caller should request again, and the way to request each.
    ///
    /// The governor returns each transfer once. The caller reports the second request with
    /// ``recordStart(of:_:over:at:)`` under another number; the first answer counts.
    mutating func takeHanging(at now: Double) -> [Int: Admission.Way]
    /// Returns the seconds until a transfer counts as hanging. Returns nil if no transfer will count as hanging.
    func timeUntilHanging(at now: Double) -> Double?
    /// Returns the seconds until ``advance(to:waiting:)`` is due without an event. Returns nil if no call is due.
    ///
    /// - Parameter waiting: returns the number of waiting transfers of a host.
    func timeUntilAdvance(at now: Double, waiting: (String) -> Int) -> Double?
    /// The measurements of hosts, with which the next run can start.
    var history: HostHistory { get }
    /// The governor's state, for display to the user.
    var report: GovernorReport { get }
}

/// A governor's decision about the start of a transfer.
public enum Admission: Hashable, Sendable {
    /// The transfer may start now, in this way.
    case now(Way)
    /// No transfer of this host may start yet.
    case hostIsBusy
    /// No transfer of this importance or less may start yet.
    case linkIsBusy

    /// The way to request a transfer: its connection, and whether it is split.
    public struct Way: Hashable, Sendable {
        /// The kind of connection.
        public let connection: Connection
        /// Whether to request pieces, if the server supports ranges: see ``Governor/pieces(of:)``.
        public let isInPieces: Bool

        /// Creates a way, in one request or in pieces.
        public init(_ connection: Connection, inPieces: Bool = false) {
            (self.connection, isInPieces) = (connection, inPieces)
        }

        /// One request over any connection.
        public static let any = Way(.any)
        /// One request over a connection that at most two transfers share.
        public static let few = Way(.few)
    }

    /// The kind of connection that a transfer uses.
    public enum Connection: Hashable, Sendable {
        /// Any connection. With HTTP/2, all transfers share one connection.
        case any
        /// A connection of the transfer's own, new or idle.
        case unshared
        /// One of many connections with two transfers each, for links that lose packets.
        case few
    }
}

/// An event of a transfer from which a governor learns.
public enum TransferEvent: Hashable, Sendable {
    /// A new connection was established. The value is the duration of the TCP handshake in seconds.
    case connected(Double)
    /// The answer began. The values are the seconds since the request, the body length if known, and whether all
    /// transfers share the connection.
    case answered(wait: Double, length: Double?, isShared: Bool)
    /// The request was sent again, after a redirect or to the same server.
    case askedAgain
    /// Bytes arrived. The value is the number of bytes of the body that have arrived so far.
    case received(Double)
    /// A transfer in pieces requested more. The value counts all requested bytes; nil once it continues in one request.
    case asked(Double?)
    /// Packets arrived over the connection. The values count the packets since the last such event, and those out of
    /// order. The round trip is smoothed and includes the time in queues; nil if unknown.
    case packets(Int, disordered: Int, roundTrip: Double?)
    /// The importance of the transfer changed.
    case importance(Importance)
    /// The transfer ended in this way.
    case ended(Ending)

    /// The way in which a transfer ended.
    public enum Ending: Hashable, Sendable {
        /// All bytes arrived, or the server answered that there are no bytes.
        case completed
        /// The caller cancelled or interrupted the transfer.
        case cancelled
        /// The transfer could not reach the host.
        case unreachable
        /// The transfer failed for another reason.
        case failed
    }
}

/// A governor's measurements and decisions, for display to the user.
public struct GovernorReport: Hashable, Sendable {
    /// The measured quality of the network; nil until it is measured.
    public var quality: LinkQuality?
    /// The hosts that the last attempt did not reach.
    public var missed: Set<String> = []
    /// The hosts that several attempts did not reach. One transfer at a time probes each host.
    public var unreachable: Set<String> = []
    /// The times from which hosts accept requests again, in the governor's seconds. Past times may remain.
    public var silences: [String: Double] = [:]
    /// The number of thumbnails that may run at once, at most ``limit``.
    public var width = 0
    /// The maximum number of transfers of the busiest host that may run at once.
    public var limit = 0
    /// The number of bytes that should be requested but not yet received.
    public var window: Double = 0
    /// The measured bandwidth in bytes per second; nil until it is measured.
    public var bandwidth: Double?
    /// The shortest measured round trip in seconds; nil until it is measured.
    public var roundTrip: Double?

    /// Creates an empty report.
    public init() {}
}

/// The pieces into which a photo's transfer is split.
///
/// Many new connections start many times as fast as one, and a lost packet slows down one of them, not the whole photo.
/// A transfer in pieces also stops without waste: it requests no further piece and keeps its connections.
public struct TransferPieces: Hashable, Sendable {
    /// The number of bytes that should be requested but not yet received.
    public let window: Double
    /// The number of bytes per piece.
    public let size: Double

    /// The maximum number of pieces that run at once.
    public static let most = 24
    /// The smallest and the largest piece in bytes. A server sends about the smallest at once on a new connection (RFC
    /// 6928). The largest arrives soon, because the other pieces wait for a late piece.
    private static let sizes = 16_384.0...262_144.0

    /// Creates pieces for a transfer's window. The host's whole window has space for the maximum number of pieces.
    init(window: Double, of most: Double) {
        self.window = window
        size = min(max(most / Double(Self.most), Self.sizes.lowerBound), Self.sizes.upperBound)
    }

    /// Pieces without limits, which means the whole content in one request.
    static let unlimited = TransferPieces(window: .infinity, of: .infinity)
}
