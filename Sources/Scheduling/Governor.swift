import Model

/// Decides how many transfers run and which are interrupted.
///
/// A governor is a value without a clock. The caller tells it what happens and when, in seconds since any fixed moment.
/// Tests therefore drive it through simulated networks, and each run can be repeated.
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
    /// The caller reports a transfer that it starts with ``recordStart(of:_:over:at:)``.
    mutating func admit(_ candidate: TransferCandidate, at now: Double) -> Admission
    /// Records that a transfer was started, under a number that no other has.
    mutating func recordStart(
        of transfer: Int, _ candidate: TransferCandidate, over way: Admission.Way, at now: Double
    )
    /// The pieces in which a transfer is requested now.
    func pieces(of transfer: Int) -> TransferPieces
    /// Records an event of a running transfer.
    mutating func record(_ event: TransferEvent, of transfer: Int, at now: Double)
    /// Records that a host refused a request: 429, 503, or a reset connection.
    ///
    /// - Parameter silence: seconds for which the host wants no requests, except for what the user waits for.
    mutating func recordComplaint(of host: String, silence: Double, at now: Double)
    /// Ends a host's silence, because the user asked for a retry.
    mutating func endSilence(of host: String)
    /// Records that the system joined a network or changed to another one.
    mutating func recordNetworkChange(at now: Double)
    /// Lets time pass. Returns the transfers to interrupt and put back into the queue.
    ///
    /// - Parameter waiting: the number of waiting transfers of a host that could start.
    mutating func advance(to now: Double, waiting: (String) -> Int) -> [Int]
    /// Returns hanging transfers to request once more, and how.
    ///
    /// Each is returned once. The caller reports the second request with ``recordStart(of:_:over:at:)`` under another
    /// number; the first answer counts.
    mutating func takeHanging(at now: Double) -> [Int: Admission.Way]
    /// Seconds until a transfer counts as hanging; nil if none will.
    func timeUntilHanging(at now: Double) -> Double?
    /// Seconds until ``advance(to:waiting:)`` is due without an event; nil if it is not.
    ///
    /// - Parameter waiting: the number of waiting transfers of a host.
    func timeUntilAdvance(at now: Double, waiting: (String) -> Int) -> Double?
    /// The measurements of hosts to start the next run with.
    var history: HostHistory { get }
    /// The state to show to the user.
    var report: GovernorReport { get }
}

/// A governor's answer to whether a transfer may start.
public enum Admission: Hashable, Sendable {
    /// It may start, over this way.
    case now(Way)
    /// No transfer of this host may start yet.
    case hostIsBusy
    /// No transfer of this or less importance may start yet.
    case linkIsBusy

    /// How a transfer is requested.
    public struct Way: Hashable, Sendable {
        /// The kind of connection.
        public let connection: Connection
        /// Whether to request pieces, if the server supports ranges: see ``Governor/pieces(of:)``.
        public let isInPieces: Bool

        /// Creates a way, in one request or in pieces.
        public init(_ connection: Connection, inPieces: Bool = false) {
            (self.connection, isInPieces) = (connection, inPieces)
        }

        /// Any connection, in one request.
        public static let any = Way(.any)
        /// A connection that few transfers share, in one request.
        public static let few = Way(.few)
    }

    /// The kind of connection that a transfer uses.
    public enum Connection: Hashable, Sendable {
        /// Any connection; with HTTP/2 the one that all transfers share.
        case any
        /// A connection of its own, new or idle.
        case unshared
        /// One of many connections with two transfers each, for links that lose packets.
        case few
    }
}

/// An event of a transfer that a governor learns from.
public enum TransferEvent: Hashable, Sendable {
    /// A connection was made for it, after these seconds of TCP handshake.
    case connected(Double)
    /// The answer began: seconds since the request, body length if known, whether all transfers share the connection.
    case answered(wait: Double, length: Double?, isShared: Bool)
    /// The request was sent again, after a redirect or to the same server.
    case askedAgain
    /// The bytes of body received in all.
    case received(Double)
    /// The bytes requested in all, for a transfer in pieces; nil once it continues in one request.
    case asked(Double?)
    /// Packets of its connection since the last such event: their count, how many came out of order, and the smoothed
    /// round trip with queues, where known.
    case packets(Int, disordered: Int, roundTrip: Double?)
    /// Its importance changed.
    case importance(Importance)
    /// It ended.
    case ended(Ending)

    /// How a transfer ends.
    public enum Ending: Hashable, Sendable {
        /// All bytes arrived, or the server answered that there are none.
        case completed
        /// The caller cancelled or interrupted it.
        case cancelled
        /// The host could not be reached.
        case unreachable
        /// Any other failure.
        case failed
    }
}

/// A governor's view of the network, to show to the user.
public struct GovernorReport: Hashable, Sendable {
    /// The measured quality; nil until measured.
    public var quality: LinkQuality?
    /// Hosts that the last attempt did not reach.
    public var missed: Set<String> = []
    /// Hosts that several attempts did not reach. One transfer at a time probes each.
    public var unreachable: Set<String> = []
    /// When hosts may be requested again, in the governor's seconds. Past times may remain.
    public var silences: [String: Double] = [:]
    /// How many thumbnails may run at once, at most ``limit``.
    public var width = 0
    /// How many transfers of the host may run at once.
    public var limit = 0
    /// Bytes to keep requested and not delivered.
    public var window: Double = 0
    /// The measured bandwidth, in bytes a second.
    public var bandwidth: Double?
    /// The shortest measured round trip, in seconds.
    public var roundTrip: Double?

    /// Creates an empty report.
    public init() {}
}
