/// Something that went wrong, as data: kept in the cache, shown in a status line, listed among the errors.
public struct Failure: Hashable, Sendable, CustomStringConvertible {
    /// One short sentence for the user, without a final stop: “the server answered 404”.
    public let reason: String
    /// Whether trying again later, with nothing changed here, could help.
    public let isTemporary: Bool

    /// States a failure.
    public init(_ reason: String, isTemporary: Bool) {
        self.reason = reason
        self.isTemporary = isTemporary
    }

    /// The ``reason``.
    public var description: String { reason }
}
