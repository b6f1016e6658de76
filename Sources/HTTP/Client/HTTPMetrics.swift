import Numbers

/// What a transfer took. Who decides how many run at once reads it off a ``TransferMeter``, while they do.
public struct HTTPMetrics: Hashable, Sendable {
    /// Bytes of body that crossed the network.
    public var bytes: ByteCount = 0
    /// Seconds from the start to the last byte.
    public var duration: Double = 0
    /// How many redirects were followed.
    public var redirects = 0
}
