import Model

/// What failed in this run of the program.
extension Activity {
    /// Notes that something failed, for good or for now. The report takes the place of an older one on the same subject, but
    /// for when that failed first.
    ///
    /// No more than 1,000 are kept; the oldest go.
    public func note(_ failure: FailureReport) {
        change { state in
            state.reports.note(failure)
            return Change(hasFailures: true)
        }
    }

    /// Notes that something has come after all, or that nobody wants it any more: it is not among the failures from now on.
    public func noteSuccess(of subject: Wish.Subject) {
        let isChanged = state.withLock { $0.reports.remove(subject) }
        // Nearly everything that comes has never failed: nobody is told of that.
        if isChanged { change { _ in Change(hasFailures: true) } }
    }

    /// Forgets all of them: the user has seen them.
    public func forgetFailures() {
        change { state in
            state.reports = FailureList()
            return Change(hasFailures: true)
        }
    }

    /// What failed and has not come since, the newest first.
    public var failures: [FailureReport] {
        state.withLock { $0.reports.newestFirst }
    }

    /// How many there are of them.
    public var failureCount: Int {
        state.withLock { $0.reports.count }
    }
}
