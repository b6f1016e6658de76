import Numbers

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

/// How much of something has come.
public struct Progress: Hashable, Sendable {
    /// The bytes that have arrived.
    public var done: ByteCount
    /// How much there will be, where that is known.
    public var total: ByteCount?

    /// States progress.
    public init(done: ByteCount, total: ByteCount? = nil) {
        self.done = done
        self.total = total
    }

    /// The part that is done, 0…1, where the whole is known.
    public var fraction: Double? {
        guard let total, total > 0 else { return nil }
        return min(1, max(0, Double(done) / Double(total)))
    }
}
