import HTTP
import Concurrency

/// Whether this machine is on any network at all.
public struct NetworkPresence: Coalescing, Hashable, Sendable {
    /// Whether it is.
    public let isThere: Bool

    /// States it.
    public init(isThere: Bool) {
        self.isThere = isThere
    }

    /// The later one counts.
    public mutating func merge(_ later: NetworkPresence) {
        self = later
    }

    /// How it is now. Where that cannot be told it is taken to be on one.
    static var current: NetworkPresence {
        NetworkPresence(isThere: NetworkAddress.all()?.isEmpty != true)
    }

    /// Tells a name that is not known from one that could not be asked for: without a network no name is known, and
    /// nobody should be told that his host does not exist. Nor that there is no network, when one host of it is off.
    static func refine(_ error: RequestError, hasAddress: @autoclosure () -> Bool = current.isThere) -> RequestError {
        switch error {
        case .transfer(.unknownHost), .transfer(.lookupTimedOut), .transfer(.unknownProxy), .transfer(.connectTimedOut),
            .transfer(.proxyUnreachable), .transfer(.silentBehindProxy), .transfer(.stalled), .transfer(.noRoute):
            hasAddress() ? error : .noNetwork
        default: error
        }
    }
}
