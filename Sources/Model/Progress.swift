import Numbers

/// How much of something has come.
public struct Progress: Hashable, Sendable {
    /// The bytes that have arrived.
    public var done: ByteCount
    /// How much there will be, where that is known.
    public var total: ByteCount?

    /// States progress.
    public init(done: ByteCount, total: ByteCount? = nil) {
        self.done = done
        self.total = total
    }

    /// The part that is done, 0…1, where the whole is known.
    public var fraction: Double? {
        guard let total, total > 0 else { return nil }
        return min(1, max(0, Double(done) / Double(total)))
    }
}
