import Model

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
