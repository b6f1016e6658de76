/// What an update did.
public struct SyncSummary: Hashable, Sendable {
    /// Photos that are new.
    public var added = 0
    /// Photos whose name, date or address changed.
    public var changed = 0
    /// Photos that are gone.
    public var removed = 0
    /// Entries that broke a rule, or repeated an id.
    public var skipped = 0
    /// Photos that the gallery has now.
    public var total = 0
}
