import Concurrency
import Model
import Synchronization

/// The current work as data. The activity contains the progress of updates and transfers, failures, and questions to
/// the user.
///
/// The activity is lost when the program ends. Workers change the activity; screens read it and listen for changes.
public final class Activity: Sendable {
    private struct State {
        var phases: [GalleryID: SyncPhase] = [:]
        /// The galleries whose albums are being read.
        var readingAlbums: Set<GalleryID> = []
        /// The galleries whose last update the user stopped.
        var cancelled: Set<GalleryID> = []
        /// The galleries that the user left while an update waited for a retry, until the next update.
        var left: Set<GalleryID> = []
        /// The failures of gallery updates that the caches could not record.
        var failures: [GalleryID: Failure] = [:]
        /// The failures of pictures that the caches could not record.
        var pictureFailures: [Wish.Subject: Failure] = [:]
        var transfers: [Wish.Subject: Progress] = [:]
        var notices: [String] = []
        /// The disk problems that the interface has already reported to the user.
        var troubles: Set<StorageTrouble> = []
        var traffic = Traffic()
        var reports = FailureList()
        var questions = QuestionList()
        /// The galleries whose refused requests Vitrine may retry with new credentials.
        var answered: Set<GalleryID> = []
        /// The running sign-in with the browser, and its stage.
        var browserSignIn: (signIn: BrowserSignIn, stage: BrowserSignIn.Stage)?
        var browserSignInCount = 0
        /// The restrictions of each program of Vitrine, in words for the user.
        var restrictions: [String: [String]] = [:]
    }

    private let state = Mutex(State())
    private let subscribers = Subscribers<Change>()
    private let watching = Subscribers<TrafficInterest>()

    /// The maximum number of unread notices. Older notices are dropped.
    private static let maximumNotices = 20

    /// Creates an activity without any work.
    public init() {}

    /// Sets the phase of a gallery's update.
    public func setPhase(_ phase: SyncPhase, of gallery: GalleryID) {
        change { state in
            state.cancelled.remove(gallery)
            state.left.remove(gallery)
            state.failures[gallery] = nil
            state.phases[gallery] = phase
            return Change(galleries: [gallery])
        }
    }

    /// Ends a gallery's update. The cache holds the result, unless the user stopped the update.
    public func endUpdate(of gallery: GalleryID, cancelled: Bool = false) {
        change { state in
            state.phases[gallery] = nil
            if cancelled { state.cancelled.insert(gallery) } else { state.cancelled.remove(gallery) }
            return Change(galleries: [gallery])
        }
    }

    /// Records that the user leaves a gallery. If its update waits for a retry, it counts as failed, not as cancelled.
    public func leave(_ gallery: GalleryID) {
        state.withLock { state in if case .waiting? = state.phases[gallery] { state.left.insert(gallery) } }
    }

    /// Sets the failure of a gallery's update that its cache cannot record. The next update clears the failure.
    public func setFailure(_ failure: Failure, of gallery: GalleryID) {
        change { state in
            state.failures[gallery] = failure
            return Change(galleries: [gallery])
        }
    }

    /// Sets whether the albums of a gallery's server are being read.
    public func setReadingAlbums(_ isReading: Bool, of gallery: GalleryID) {
        change { state in
            if isReading { state.readingAlbums.insert(gallery) } else { state.readingAlbums.remove(gallery) }
            return Change(galleries: [gallery])
        }
    }

    /// Returns whether Vitrine is reading the albums of a gallery's server.
    public func isReadingAlbums(of gallery: GalleryID) -> Bool {
        state.withLock { $0.readingAlbums.contains(gallery) }
    }

    /// Sets the progress of a picture's transfer. Nil means that the transfer has ended.
    public func setProgress(_ progress: Progress?, of picture: Wish.Subject) {
        change { state in
            state.transfers[picture] = progress
            if progress != nil { state.pictureFailures[picture] = nil }
            return Change(pictures: [picture])
        }
    }

    /// Sets the failure of a list or picture that its cache cannot record. The next attempt clears the failure.
    public func setFailure(_ failure: Failure, of subject: Wish.Subject) {
        guard subject.photo != nil else { return setFailure(failure, of: subject.gallery) }
        change { state in
            state.pictureFailures[subject] = failure
            return Change(pictures: [subject])
        }
    }

    /// Records the restrictions of one of Vitrine's programs. Nil means that the program has ended.
    public func setRestrictions(_ names: [String]?, of program: String) {
        change { state in
            state.restrictions[program] = names
            return Change(hasTraffic: true)
        }
    }

    /// The restrictions of each program of Vitrine.
    public var restrictions: [String: [String]] { state.withLock { $0.restrictions } }

    /// Posts a sentence that the interface shows to the user.
    public func postNotice(_ notice: String) {
        change { state in
            state.notices.append(Address.withoutCredentials(notice))
            if state.notices.count > Self.maximumNotices { state.notices.removeFirst() }
            return Change(hasNotices: true)
        }
    }

    /// Reports a problem of the disk. The interface shows each problem once, and again after the user retries.
    public func report(_ trouble: StorageTrouble) {
        let isNew = state.withLock { $0.troubles.insert(trouble).inserted }
        if isNew { postNotice(trouble.notice) }
    }

    /// The problems of the disk since the user last retried.
    public var storageTroubles: Set<StorageTrouble> { state.withLock { $0.troubles } }

    /// Whether the disk has refused data since the user last retried.
    public var hasStorageTrouble: Bool { !storageTroubles.isEmpty }

    /// Removes the records that prevent a retry of a gallery.
    ///
    /// The interface will then report disk problems again, and ask declined questions again.
    public func retry(_ gallery: GalleryID) {
        change { state in
            state.troubles = []
            state.questions.retry(gallery)
            return Change(retried: [gallery])
        }
    }

    /// Removes the unread notices and returns them.
    public func takeNotices() -> [String] {
        state.withLock { state in
            defer { state.notices = [] }
            return state.notices
        }
    }

    /// Returns the progress of a picture's transfer. Returns nil if no transfer runs.
    public func progress(of picture: Wish.Subject) -> Progress? {
        state.withLock { $0.transfers[picture] }
    }

    /// Returns the failure of a picture that its cache could not record.
    public func failure(of picture: Wish.Subject) -> Failure? {
        state.withLock { $0.pictureFailures[picture] }
    }

    /// Returns whether an update of a gallery is running.
    public func isUpdating(_ gallery: GalleryID) -> Bool {
        state.withLock { $0.phases[gallery] != nil }
    }

    /// Whether any update or transfer is running.
    public var isBusy: Bool {
        state.withLock { !$0.phases.isEmpty || !$0.transfers.isEmpty }
    }

    /// Returns the status of a gallery. The status is that of the running update, or else the recorded status.
    public func status(of gallery: GalleryID, recorded: SyncStatus) -> SyncStatus {
        var status = recorded
        state.withLock { state in
            if let phase = state.phases[gallery] {
                status.state = .updating(phase)
            } else if state.cancelled.contains(gallery), !state.left.contains(gallery) {
                status.state = .cancelled
            } else if let failure = state.failures[gallery] {
                status.state = .failed(failure)
            }
        }
        return status
    }

    /// Returns a stream of changes.
    public func changes() -> CoalescingStream<Change> {
        subscribers.subscribe()
    }

    /// Calls `body` with each change until the result is released. The method that makes a change returns after `body`
    /// does.
    public func relayChanges(_ body: @escaping @Sendable (Change) -> Void) -> Relay<Change> {
        subscribers.relay(body)
    }

    private func change(_ body: (inout State) -> Change) {
        let change = state.withLock { body(&$0) }
        subscribers.send(change)
    }
}

/// The state of the network, with the transfers and their speed.
extension Activity {
    private struct Traffic {
        var report: TrafficReport?
        var reportedAt = Timestamp(milliseconds: 0)
        var history = SpeedHistory()
        var watchers = 0
    }

    /// Sets the transfer report and updates the speeds.
    ///
    /// The network controller reports when transfers start, a few times a second while they run, and when the last
    /// transfer has ended. The report lists the transfers only while ``isTrafficWatched`` is true.
    ///
    ///     activity.setTraffic(TrafficReport(running: 3, limit: 8, received: 1_200_000), at: now)
    ///
    /// - Parameter time: the time of the report.
    public func setTraffic(_ report: TrafficReport, at time: Timestamp) {
        change { state in
            state.traffic.history.record(received: report.received, at: time)
            state.traffic.reportedAt = time
            state.traffic.report = report
            return Change(hasTraffic: true)
        }
    }

    /// The last transfer report; nil before the first report.
    public var traffic: TrafficReport? {
        state.withLock { $0.traffic.report }
    }

    /// The last transfer report and its time, for another process.
    public var trafficAtReport: (report: TrafficReport, time: Timestamp)? {
        state.withLock { state in state.traffic.report.map { ($0, state.traffic.reportedAt) } }
    }

    /// The number of bytes received in each of the last sixty seconds, the oldest first.
    public var speeds: [Int64] {
        state.withLock { $0.traffic.history.seconds.map(\.int64) }
    }

    /// The speed at the last report, in bytes per second.
    public var speed: Double {
        state.withLock { $0.traffic.history.speed(at: $0.traffic.reportedAt) }
    }

    /// Requests that reports list the transfers, until the result is released.
    public func watchTraffic() -> TrafficWatch {
        watch(by: 1)
        return TrafficWatch { [weak self] in self?.watch(by: -1) }
    }

    /// Whether a screen shows the transfers. Otherwise the controller need not list the transfers.
    public var isTrafficWatched: Bool {
        state.withLock { $0.traffic.watchers > 0 }
    }

    /// Calls `body` now and after each change of ``isTrafficWatched``. The calls end when the result is released.
    public func relayTrafficInterest(_ body: @escaping @Sendable (TrafficInterest) -> Void) -> Relay<TrafficInterest> {
        state.withLock { watching.relay(beginningWith: TrafficInterest(isWatched: $0.traffic.watchers > 0), body) }
    }

    /// Returns a stream that says whether a screen shows the transfers.
    ///
    /// The stream starts with the current value. A screen that opens needs a report at once, even if no transfer runs.
    public func trafficInterest() -> CoalescingStream<TrafficInterest> {
        state.withLock { watching.subscribe(beginningWith: TrafficInterest(isWatched: $0.traffic.watchers > 0)) }
    }

    private func watch(by count: Int) {
        // Send under the lock, so that two changes cannot arrive in the wrong order.
        state.withLock { state in
            let before = state.traffic.watchers > 0
            state.traffic.watchers += count
            let isWatched = state.traffic.watchers > 0
            if isWatched != before { watching.send(TrafficInterest(isWatched: isWatched)) }
        }
    }
}

/// The failures of requests in this run of the program.
extension Activity {
    /// Records a failure. The record replaces an older failure of the same subject.
    ///
    /// If the failed attempt was not the first one, the record keeps the time of the first failure. The activity keeps
    /// at most 1,000 failures and drops the oldest. It ignores a failure that was cleared already.
    public func recordFailure(_ failure: FailureReport) {
        change { state in
            state.reports.add(failure)
            return Change(hasFailures: true, failures: [failure.subject])
        }
    }

    /// Removes the failure of a subject that succeeded, is gone, or is tried again.
    public func removeFailure(of subject: Wish.Subject) {
        changeReports(of: subject) { $0.remove(subject) }
    }

    /// Records when a failed subject will be retried. Nil means that no retry is planned.
    public func setRetry(of subject: Wish.Subject, at time: Timestamp?) {
        changeReports(of: subject) { $0.setRetry(of: subject, at: time) }
    }

    /// Removes the failures of a gallery that was removed.
    public func removeFailures(of gallery: GalleryID) {
        changeReports { $0.clear(of: gallery) }
    }

    /// Changes the list of failures. The method notifies listeners only if `body` returns true. Most subjects never
    /// failed, so most calls change nothing.
    private func changeReports(of subject: Wish.Subject? = nil, _ body: (inout FailureList) -> Bool) {
        let isChanged = state.withLock { body(&$0.reports) }
        guard isChanged else { return }
        change { _ in Change(hasFailures: true, failures: Set([subject].compactMap { $0 })) }
    }

    /// Removes all failures.
    public func clearFailures() {
        changeReports { $0.clear() }
    }

    /// The failures without a later success, the newest first.
    public var failures: [FailureReport] {
        state.withLock { $0.reports.newestFirst }
    }

    /// Returns the failure of a subject. Returns nil if the subject has succeeded since, or has not failed.
    public func failureReport(of subject: Wish.Subject) -> FailureReport? {
        state.withLock { $0.reports[subject] }
    }

    /// The number of failures without a later success.
    public var failureCount: Int {
        state.withLock { $0.reports.count }
    }
}

/// Questions in which servers and proxies request credentials.
extension Activity {
    /// Adds a question. Only one question per server or proxy is open, however many requests wait for it. A question
    /// that the user declined is not asked again.
    public func ask(_ question: SignInQuestion) {
        change { state in
            state.questions.ask(question)
            return Change(hasSignIns: true)
        }
    }

    /// Withdraws a question that was answered or is no longer needed.
    public func withdrawQuestion(_ place: SignInPlace) {
        change { state in
            state.questions.withdraw(place)
            return Change(hasSignIns: true)
        }
    }

    /// Declines a question until the next ``retry(_:)`` of its gallery.
    public func declineQuestion(_ place: SignInPlace) {
        change { state in
            state.questions.decline(place)
            return Change(hasSignIns: true)
        }
    }

    /// The open questions, the oldest first.
    public var questions: [SignInQuestion] {
        state.withLock { $0.questions.open }
    }

    /// Records that Vitrine may retry a gallery's refused requests with new credentials.
    public func recordAnswer(for gallery: GalleryID) {
        change { state in
            state.answered.insert(gallery)
            return Change(hasSignIns: true)
        }
    }

    /// Removes the galleries whose refused requests may be retried, and returns them.
    public func takeAnswered() -> Set<GalleryID> {
        state.withLock { state in
            defer { state.answered = [] }
            return state.answered
        }
    }
}

/// The sign-in that the user makes with the browser.
extension Activity {
    /// Starts a sign-in with the browser, which replaces an earlier one.
    ///
    /// - Parameters:
    ///   - server: the address below which the server has its sign-in pages.
    ///   - galleries: the galleries whose requests need the sign-in.
    public func beginSignIn(withBrowserAt server: Address, for galleries: Set<GalleryID>) -> BrowserSignIn {
        state.withLock { state in
            state.browserSignInCount += 1
            let signIn = BrowserSignIn(number: state.browserSignInCount, server: server, galleries: galleries)
            state.browserSignIn = (signIn, .starting)
            return signIn
        }
    }

    /// Sets the stage of a sign-in. Does nothing after the end of the sign-in.
    public func setStage(_ stage: BrowserSignIn.Stage, of signIn: BrowserSignIn) {
        change { state in
            guard state.browserSignIn?.signIn == signIn else { return Change() }
            state.browserSignIn = (signIn, stage)
            return Change(hasSignIns: true)
        }
    }

    /// Returns the stage of a sign-in. Returns nil after the end of the sign-in.
    public func stage(of signIn: BrowserSignIn) -> BrowserSignIn.Stage? {
        state.withLock { $0.browserSignIn?.signIn == signIn ? $0.browserSignIn?.stage : nil }
    }

    /// Ends a sign-in, and drops its password.
    public func endSignIn(_ signIn: BrowserSignIn) {
        state.withLock { state in
            if state.browserSignIn?.signIn == signIn { state.browserSignIn = nil }
        }
    }
}

/// The parts of an activity that one process passes to another.
extension Activity {
    /// Returns the work for a gallery.
    public func part(of gallery: GalleryID) -> GalleryPart {
        state.withLock { state in
            var part = GalleryPart()
            (part.phase, part.failure) = (state.phases[gallery], state.failures[gallery])
            part.isCancelled = state.cancelled.contains(gallery)
            part.isReadingAlbums = state.readingAlbums.contains(gallery)
            return part
        }
    }

    /// Adopts the work for a gallery from another process.
    public func adopt(_ part: GalleryPart, of gallery: GalleryID) {
        change { state in
            (state.phases[gallery], state.failures[gallery]) = (part.phase, part.failure)
            if part.phase != nil { state.left.remove(gallery) }
            if part.isCancelled { state.cancelled.insert(gallery) } else { state.cancelled.remove(gallery) }
            if part.isReadingAlbums { state.readingAlbums.insert(gallery) } else { state.readingAlbums.remove(gallery) }
            return Change(galleries: [gallery])
        }
    }

    /// Adopts the progress and the failure of a picture from another process.
    public func adopt(_ progress: Progress?, _ failure: Failure?, of picture: Wish.Subject) {
        change { state in
            (state.transfers[picture], state.pictureFailures[picture]) = (progress, failure)
            return Change(pictures: [picture])
        }
    }

    /// Removes the open questions and returns them, for another process that asks them.
    public func takeQuestions() -> [SignInQuestion] {
        state.withLock { $0.questions.takeAll() }
    }

    /// Removes all running work, because its process has ended.
    public func endAllWork() {
        change { state in
            let galleries = Set(state.phases.keys).union(state.readingAlbums)
            let pictures = Set(state.transfers.keys)
            (state.phases, state.readingAlbums, state.transfers) = ([:], [], [:])
            state.traffic.report = state.traffic.report?.withoutTransfers
            return Change(galleries: galleries, pictures: pictures, hasTraffic: true)
        }
    }

    /// The running sign-in with the browser, and its stage.
    public var browserSignIn: (signIn: BrowserSignIn, stage: BrowserSignIn.Stage)? {
        state.withLock { $0.browserSignIn }
    }

    /// Takes over a sign-in with the browser that another process has started; nil for none.
    public func adopt(_ signIn: BrowserSignIn?) {
        state.withLock { state in
            guard state.browserSignIn?.signIn != signIn else { return }
            state.browserSignIn = signIn.map { ($0, .starting) }
        }
    }
}
