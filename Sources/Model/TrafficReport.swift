import Numbers

/// A snapshot of all transfers and of the network.
public struct TrafficReport: Hashable, Sendable {
    /// The measured quality of the network; nil before the first measurement.
    public var quality: LinkQuality?
    /// Whether the machine has a network interface in use. Local servers do not need one.
    public var isOnNetwork: Bool
    /// Wanted hosts whose last connection failed, sorted. Not sanitised.
    public var unreachable: [String]
    /// The running transfers.
    public var running: Int
    /// The number of small transfers the network can run at once; 0 if unknown.
    public var width: Int
    /// The upper limit for transfers at once.
    public var limit: Int
    /// The target for bytes in flight, over all transfers.
    public var window: ByteCount
    /// The estimated bandwidth in bytes per second.
    public var bandwidth: Double?
    /// The estimated seconds from a request to the first byte of its answer.
    public var roundTrip: Double?
    /// All bytes received since the program started. It never decreases.
    public var received: ByteCount
    /// Whether the user paused transfers.
    public var isPaused: Bool
    /// The transfers waiting for a slot.
    public var queued: Int
    /// The transfers waiting for a retry.
    public var waiting: Int
    /// The most important transfers, running ones first. Empty while no screen shows them.
    public private(set) var transfers: [TransferReport]

    /// The largest number of listed transfers, more than any screen shows.
    public static let maximumTransfers = 256

    /// Creates a report. It keeps the first ``maximumTransfers`` transfers.
    public init(
        quality: LinkQuality? = nil, isOnNetwork: Bool = true, unreachable: [String] = [], running: Int = 0,
        width: Int = 0, limit: Int = 0, window: ByteCount = 0, bandwidth: Double? = nil, roundTrip: Double? = nil,
        received: ByteCount = 0, isPaused: Bool = false, queued: Int = 0, waiting: Int = 0,
        transfers: [TransferReport] = []
    ) {
        self.quality = quality
        self.isOnNetwork = isOnNetwork
        self.unreachable = unreachable
        self.running = running
        self.width = width
        self.limit = limit
        self.window = window
        self.bandwidth = bandwidth
        self.roundTrip = roundTrip
        self.received = received
        self.isPaused = isPaused
        self.queued = queued
        self.waiting = waiting
        self.transfers = Array(transfers.prefix(Self.maximumTransfers))
    }
}

/// A snapshot of one transfer.
public struct TransferReport: Hashable, Sendable {
    /// The stage of the transfer.
    public enum Stage: Hashable, Sendable {
        /// Running; with its speed in bytes per second if known.
        case running(Progress, speed: Double? = nil)
        /// Waiting for a slot.
        case queued
        /// Waiting for a slot and blocked by a failure, or by the host.
        ///
        /// The host may be unreachable, or may have asked for a pause. Another transfer may have found that out, so
        /// `attempts` may be zero.
        case heldBack(Failure, attempts: Int)
        /// Waiting for a retry at the given time.
        ///
        /// Nil means that it depends on an event, such as the network's return. `attempts` counts failed attempts.
        case waiting(Failure, attempts: Int, until: Timestamp?)
    }

    /// The wish behind the transfer, for cancelling it. A photo transferred for its thumbnail belongs to the
    /// thumbnail's wish.
    public var subject: Wish.Subject
    /// The server's host; empty for a file. Not sanitised.
    public var host: String
    /// The importance of the wish.
    public var importance: Importance
    /// The stage of the transfer.
    public var stage: Stage

    /// Creates a report.
    public init(_ subject: Wish.Subject, host: String, importance: Importance, stage: Stage) {
        self.subject = subject
        self.host = host
        self.importance = importance
        self.stage = stage
    }
}

/// The quality of the network in three steps.
public enum LinkQuality: String, Hashable, Sendable, CaseIterable {
    /// Transfers arrive soon.
    case good
    /// Transfers arrive after a wait.
    case fair
    /// Little arrives. Only visible things are transferred.
    case poor
}
