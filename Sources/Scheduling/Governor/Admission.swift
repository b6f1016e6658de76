/// A governor's answer to whether something may start.
public enum Admission: Hashable, Sendable {
    /// It may, by such a way.
    case now(Way)
    /// Not yet, nor anything else from that host.
    case hostIsBusy
    /// Not yet, nor anything less important.
    case linkIsBusy

    /// How it is to be transferred.
    public struct Way: Hashable, Sendable {
        /// Over which connection.
        public let connection: Connection
        /// Whether it is to come in pieces, if the host can do that: see ``Governor/pieces(of:)``.
        public let isInPieces: Bool

        /// A way in pieces, or in one.
        public init(_ connection: Connection, inPieces: Bool = false) {
            (self.connection, isInPieces) = (connection, inPieces)
        }

        /// Over whatever is there.
        public static let any = Way(.any)
        /// Over a new connection.
        public static let fresh = Way(.fresh)
        /// Over one that few share.
        public static let few = Way(.few)
    }

    /// What it is to be transferred over.
    public enum Connection: Hashable, Sendable {
        /// Whatever is there: shared with others, as HTTP/2 has it, if the host can do that.
        case any
        /// A new one: on a busy link those that are there have learned to be slow.
        case fresh
        /// One that is not shared, for one of many pieces.
        case unshared
        /// One of many that few share. Where packets get lost, one connection is held up by each of them, and many are not.
        case few
    }
}
