/// A value that can take a later one into itself, so that a slow listener misses nothing and nothing queues up.
public protocol Coalescing: Sendable {
    /// Makes this value say what it and the later one said together.
    mutating func merge(_ later: Self)
}
