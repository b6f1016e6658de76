import Model

extension RequestTable {
    /// Where a thing stands.
    enum State: Equatable {
        case queued
        case running(RequestIdentity)
        case waiting(Wait)
        /// There is nothing to do until the cache changes.
        case settled
    }

    /// A wait between two attempts.
    struct Wait: Equatable {
        let since: Duration
        /// When it is over; nil if it lasts until somebody asks.
        var until: Duration?
        /// Before that the host does not want to be asked, as it has said itself.
        var earliest: Duration
        /// Whom it waits for.
        let host: String
        /// Why the attempt before it failed, and how many have.
        let failure: Failure
        let attempts: Int
        /// Whether a success of the host has made it shorter.
        var isShortened = false
    }
}
