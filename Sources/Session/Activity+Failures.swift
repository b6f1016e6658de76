import Model

/// What failed in this run of the program.
extension Activity {
    /// Notes that something failed, for good or for now. The report takes the place of an older one on the same subject; when
    /// that failed first is kept, if this was not the first attempt.
    ///
    /// No more than 1,000 are kept; the oldest go.
    public func recordFailure(_ failure: FailureReport) {
        change { state in
            state.reports.note(failure)
            return Change(hasFailures: true)
        }
    }

    /// Forgets that something failed: it has come after all, there is no such thing any more, or it has another chance.
    public func forgetFailure(of subject: Wish.Subject) {
        changeReports { $0.remove(subject) }
    }

    /// Notes that nobody wants something any more: it has failed all the same, but is not tried again by itself.
    public func noteUnwanted(_ subject: Wish.Subject) {
        changeReports { $0.noteUnwanted(subject) }
    }

    /// Forgets what failed of a gallery: it is gone.
    public func forgetFailures(of gallery: GalleryID) {
        changeReports { $0.remove(of: gallery) }
    }

    /// Nearly everything that comes has never failed: nobody is told of that.
    private func changeReports(_ body: (inout FailureList) -> Bool) {
        let isChanged = state.withLock { body(&$0.reports) }
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
