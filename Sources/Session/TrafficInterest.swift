import Concurrency

/// Whether anybody looks at the transfers.
public struct TrafficInterest: Coalescing, Equatable {
    /// Whether anybody does.
    public var isWatched: Bool

    /// The later one says it all.
    public mutating func merge(_ later: TrafficInterest) {
        self = later
    }
}
