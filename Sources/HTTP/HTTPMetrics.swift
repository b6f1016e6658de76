/// What a transfer took, for whoever decides how many run at once.
public struct HTTPMetrics: Hashable, Sendable {
    /// Bytes of body that crossed the network.
    public var bytes: Int64 = 0
    /// Seconds from the start to the last byte.
    public var duration: Double = 0
    /// Seconds until the connection stood; 0 where one was there already.
    public var connected: Double = 0
    /// Seconds until the first byte of the answer.
    public var firstByte: Double = 0
    /// How many redirects were followed.
    public var redirects = 0
}
