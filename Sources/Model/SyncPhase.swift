/// What a running sync is doing. A gallery that has none is stopped.
public enum SyncPhase: Hashable, Sendable {
    /// The list is on its way: its bytes, and entries that have been read of it so far.
    case getting(Progress, entries: Int = 0)
    /// An attempt failed. The next one comes by itself at that time; nil where no time is known.
    case waiting(Failure, until: Timestamp?)
    /// What has come is being read: entries so far.
    case parsing(entries: Int)
    /// The difference is being written.
    case committing
}
