import Numbers

/// The status of a gallery's updates, in one value so that all screens agree.
public struct SyncStatus: Hashable, Sendable {
    /// The result of the last update, or the phase of the current update.
    public enum State: Hashable, Sendable {
        /// The gallery has never been updated.
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

    /// The result of the last update, or the phase of the current update.
    public var state: State
    /// The time of the last successful update; nil if none has succeeded. An earlier run of Vitrine may have made that
    /// update.
    public var lastSuccess: Timestamp?
    /// The number of invalid entries that the last updates skipped.
    public var skipped: Int

    /// Creates a status.
    public init(state: State, lastSuccess: Timestamp? = nil, skipped: Int = 0) {
        self.state = state
        self.lastSuccess = lastSuccess
        self.skipped = skipped
    }

    /// Whether the last attempt failed and no retry has started.
    public var isFailing: Bool {
        switch state {
        case .failed, .updating(.waiting): true
        default: false
        }
    }

    /// Whether an update is running. True also during the wait for a retry.
    public var isRunning: Bool {
        if case .updating = state { return true }
        return false
    }
}

/// The phase of a running update.
public enum SyncPhase: Hashable, Sendable {
    /// Vitrine receives the list. `entries` is the number of entries parsed so far.
    case getting(Progress, entries: Int = 0)
    /// Vitrine waits for a retry at the given time. The time is nil if it is unknown.
    case waiting(Failure, until: Timestamp?)
    /// Vitrine parses the received bytes. `entries` is the number of entries parsed so far.
    case parsing(entries: Int)
    /// Vitrine writes the changes to the cache.
    case committing
}

/// The progress of a transfer in bytes.
public struct Progress: Hashable, Sendable {
    /// The number of bytes received.
    public var done: ByteCount
    /// The number of bytes expected; nil if unknown.
    public var total: ByteCount?

    /// Creates a progress value.
    public init(done: ByteCount, total: ByteCount? = nil) {
        self.done = done
        self.total = total
    }

    /// The completed part, from 0 to 1; nil if the total is unknown.
    public var fraction: Double? {
        guard let total, total > 0 else { return nil }
        return min(1, max(0, Double(done) / Double(total)))
    }
}
