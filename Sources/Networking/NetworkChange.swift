import Streams

/// Word that the machine's networks have changed.
public struct NetworkChange: Coalescing, Hashable, Sendable {
    /// Whether there is any now.
    public var hasNetwork: Bool

    /// States a change.
    public init(hasNetwork: Bool) {
        self.hasNetwork = hasNetwork
    }

    /// The later one counts.
    public mutating func merge(_ later: NetworkChange) {
        self = later
    }
}
