/// The parts of Vitrine that write to the log, each with a switch of its own.
public enum LogSubsystem: Int, Hashable, Sendable, CaseIterable {
    /// Requests: what is asked for, what came of it, what is tried again.
    case network
    /// Each transfer's connection, headers and timing.
    case networkDetail
    /// Updates of galleries: what was added, changed, removed.
    case sync
    /// Reading gallery files: entries that were skipped, and why.
    case xml
    /// The cache: opening, cleaning, repairing, checkpoints.
    case cache
    /// The terminal and the screens.
    case screen

    /// Whether all of its entries are details that most users never need, so that its switch decides and not the level.
    var isDetail: Bool { self == .networkDetail }

    /// As it stands in a line of the log.
    public var name: String {
        switch self {
        case .network: "network"
        case .networkDetail: "network-detail"
        case .sync: "sync"
        case .xml: "xml"
        case .cache: "cache"
        case .screen: "screen"
        }
    }
}
