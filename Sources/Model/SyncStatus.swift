/// What there is to say about a gallery's updates: one value, so that no screen can show two things that disagree.
public struct SyncStatus: Hashable, Sendable {
    /// How the last update ended, or how far the running one is.
    public enum State: Hashable, Sendable {
        /// There has never been an update.
        case notUpdated
        /// The last update succeeded.
        case updated
        /// An update is running.
        case updating(SyncPhase)
        /// The user stopped the last update.
        case cancelled
        /// The last update failed.
        case failed(Failure)
    }

    /// How the last update ended, or how far the running one is.
    public var state: State
    /// When an update last succeeded; known beside every state, across restarts.
    public var lastSuccess: Timestamp?
    /// Photos of the last list that broke a rule and were left out.
    public var skipped: Int

    /// Puts the facts together.
    public init(state: State, lastSuccess: Timestamp? = nil, skipped: Int = 0) {
        self.state = state
        self.lastSuccess = lastSuccess
        self.skipped = skipped
    }

    /// Whether the last attempt failed, and the next one has not begun.
    public var isFailing: Bool {
        switch state {
        case .failed, .updating(.waiting): true
        default: false
        }
    }

    /// Whether an update is running, waits between attempts included.
    public var isRunning: Bool {
        if case .updating = state { return true }
        return false
    }
}
