import Numbers

/// A snapshot of all transfers and of the network.
public struct TrafficReport: Hashable, Sendable {
    /// The measured quality of the network; nil before the first measurement.
    public var quality: LinkQuality?
    /// Whether the machine has a network interface in use. Servers on the same machine do not need a network.
    public var isOnNetwork: Bool
    /// The hosts that Vitrine needs now and could not reach last time, sorted. The names may contain control
    /// characters.
    public var unreachable: [String]
    /// The number of running transfers.
    public var running: Int
    /// The number of small transfers that the network can run at once; 0 if unknown.
    public var width: Int
    /// The maximum number of transfers that may run at once.
    public var limit: Int
    /// The target number of bytes that are requested but not yet received. All transfers together share this target.
    public var window: ByteCount
    /// The estimated bandwidth in bytes per second; nil if unknown.
    public var bandwidth: Double?
    /// The estimated seconds from a request to the first byte of its answer, if known.
    public var roundTrip: Double?
    /// The number of bytes received since the program started. The number never decreases.
    public var received: ByteCount
    /// Whether the user has paused all transfers.
    public var isPaused: Bool
    /// The number of transfers that wait until they may start.
    public var queued: Int
    /// The number of transfers that wait for a retry.
    public var waiting: Int
    /// The most important transfers, running transfers first. The list is empty while no screen shows transfers.
    public private(set) var transfers: [TransferReport]

    /// The maximum number of transfers in a report, more than any screen shows.
    public static let maximumTransfers = 256

    /// Creates a report. Keeps only the first ``maximumTransfers`` transfers.
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

extension TrafficReport {
    /// This report, as if all transfers had ended.
    public var withoutTransfers: TrafficReport {
        var report = self
        (report.running, report.queued, report.waiting, report.transfers) = (0, 0, 0, [])
        return report
    }
}

/// A snapshot of one transfer.
public struct TransferReport: Hashable, Sendable {
    /// The stage of the transfer.
    public enum Stage: Hashable, Sendable {
        /// The transfer runs. The speed is in bytes per second, or nil if unknown.
        case running(Progress, speed: Double? = nil)
        /// The transfer waits until it may start.
        case queued
        /// The transfer waits because a failure or the host prevents its start.
        ///
        /// The host may be unreachable, or may have asked for a pause. Vitrine may know this from another transfer to
        /// the host, so `attempts` may be zero.
        case heldBack(Failure, attempts: Int)
        /// The transfer waits for a retry at the given time.
        ///
        /// The time is nil if the retry depends on an event, such as the network's return. `attempts` counts failed
        /// attempts.
        case waiting(Failure, attempts: Int, until: Timestamp?)
    }

    /// The requested data. A screen can cancel the request. If Vitrine fetches a photo to make a thumbnail, the subject
    /// is the thumbnail.
    public var subject: Wish.Subject
    /// The server's host; empty for a file. The name may contain control characters.
    public var host: String
    /// The priority of the transfer.
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

/// The quality of the network, judged by the time that a photo takes.
public enum LinkQuality: String, Hashable, Sendable, CaseIterable {
    /// A photo takes less than a second.
    case good
    /// A photo takes one to four seconds.
    case fair
    /// A photo takes four seconds or more.
    case poor
}
