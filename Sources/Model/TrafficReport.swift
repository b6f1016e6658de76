import Numbers

/// All that is fetched and how the network does, at one moment.
public struct TrafficReport: Hashable, Sendable {
    /// How well the network serves, as measured; nil as long as nothing is.
    public var quality: LinkQuality?
    /// Whether the kernel knows of a network that this machine is on. Other programs on this machine need none.
    public var isOnNetwork: Bool
    /// Hosts that something is wanted from and that could not be reached at the last attempt, sorted. As they came: not yet
    /// made harmless for a screen.
    public var unreachable: [String]
    /// How many transfers are under way.
    public var running: Int
    /// How many small transfers run at once if there are enough, for the network as it is; 0 as long as nothing is known.
    public var width: Int
    /// How many may run at once in any case.
    public var limit: Int
    /// How many bytes are kept under way together.
    public var window: ByteCount
    /// Bytes that the network can bring in a second, as far as is known.
    public var bandwidth: Double?
    /// Seconds from a request to the first that is heard of it, as far as is known.
    public var roundTrip: Double?
    /// All bytes that have come since the program began. It never gets less.
    public var received: ByteCount
    /// Whether the user wants nothing to be begun.
    public var isPaused: Bool
    /// How many wait for their turn.
    public var queued: Int
    /// How many wait for another attempt.
    public var waiting: Int
    /// The most important of what runs, waits or has its turn to come, those first. Empty when nobody looks.
    public private(set) var transfers: [TransferReport]

    /// How many transfers are named, at most. A gallery may have a million photos, and no screen shows more than that.
    public static let maximumTransfers = 256

    /// Puts the facts together. Of more than ``maximumTransfers`` the first are kept.
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

/// One thing that is fetched or is to be, as whoever fetches it sees it at one moment.
public struct TransferReport: Hashable, Sendable {
    /// How far it has come.
    public enum Stage: Hashable, Sendable {
        /// It is on its way: so much has arrived, and that many bytes come in a second, where that can be told.
        case running(Progress, speed: Double? = nil)
        /// Its turn has not come.
        case queued
        /// Nor this one's, and something is in its way: an attempt has failed, after so many, or its host cannot be reached, or
        /// does not want to be asked, which may be known of others alone.
        case heldBack(Failure, attempts: Int)
        /// An attempt failed. It was the so-and-so-many-th; the next one comes at that time, or, if there is none, when
        /// something else happens, such as the network's coming back.
        case waiting(Failure, attempts: Int, until: Timestamp?)
    }

    /// What is wished for. Where another thing is fetched in its place, as a photo is that a thumbnail is made from, it is
    /// still the wish that is named: so that it can be declined.
    public var subject: Wish.Subject
    /// Where it comes from; empty for a file. As it came: not yet made harmless for a screen.
    public var host: String
    /// How soon it is wanted.
    public var importance: Importance
    /// How far it has come.
    public var stage: Stage

    /// Puts the facts together.
    public init(_ subject: Wish.Subject, host: String, importance: Importance, stage: Stage) {
        self.subject = subject
        self.host = host
        self.importance = importance
        self.stage = stage
    }
}

/// How well the network serves at the moment, in as many words as a user needs.
public enum LinkQuality: String, Hashable, Sendable, CaseIterable {
    /// Everything comes, and soon.
    case good
    /// It comes, with waits.
    case fair
    /// Little comes; what is not looked at has to wait.
    case poor
}
