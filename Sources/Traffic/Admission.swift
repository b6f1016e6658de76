/// A governor's answer to whether something may start.
public enum Admission: Hashable, Sendable {
    /// It may, over such a connection.
    case now(Connection)
    /// Not yet, nor anything else from that host.
    case hostIsBusy
    /// Not yet, nor anything less important.
    case linkIsBusy

    /// What it is to be transferred over.
    public enum Connection: Hashable, Sendable {
        /// Whatever is there: shared with others, as HTTP/2 has it, if the host can do that.
        case any
        /// A new one: on a busy link those that are there have learned to be slow.
        case fresh
        /// One that is not shared. Where packets get lost, one connection is held up by each of them, and many are not.
        case unshared
    }
}
