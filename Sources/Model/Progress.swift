/// How far a piece of work has come.
public struct Progress: Hashable, Sendable {
    /// What is done, in whatever unit the work counts.
    public var done: Int64
    /// How much there will be, where that is known.
    public var total: Int64?

    /// States progress.
    public init(done: Int64, total: Int64? = nil) {
        self.done = done
        self.total = total
    }

    /// The part that is done, 0…1, where the whole is known.
    public var fraction: Double? {
        guard let total, total > 0 else { return nil }
        return min(1, max(0, Double(done) / Double(total)))
    }
}
