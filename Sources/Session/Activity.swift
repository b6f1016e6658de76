import Concurrency
import Model
import Synchronization

/// What is being done at the moment, as data: how far an update has come, how much of a photo has arrived.
///
/// It is the part of the cache that nobody needs after the program has ended, so it is not written to the disk.
/// Whoever works notes it here; screens read it, and hear of changes as they hear of commits.
public final class Activity: Sendable {
    /// What about the activity changed.
    public struct Change: Coalescing, Equatable {
        /// Galleries whose update went on, ended or began.
        public var galleries: Set<GalleryID> = []
        /// Pictures of which more has arrived, or no more will.
        public var pictures: Set<Wish.Subject> = []
        /// Something has come up that the user should be told.
        public var hasNotices = false
        /// More has come from the network, or it does better or worse, or nothing comes any more.
        public var hasTraffic = false
        /// Something failed, or has come that had failed before.
        public var hasFailures = false
        /// The user is to be asked who he is, or not any more; or it is known now.
        public var hasSignIns = false

        /// Takes in what changed later.
        public mutating func merge(_ later: Change) {
            galleries.formUnion(later.galleries)
            pictures.formUnion(later.pictures)
            hasNotices = hasNotices || later.hasNotices
            hasTraffic = hasTraffic || later.hasTraffic
            hasFailures = hasFailures || later.hasFailures
            hasSignIns = hasSignIns || later.hasSignIns
        }
    }

    private struct State {
        var phases: [GalleryID: SyncPhase] = [:]
        /// Galleries whose last update was stopped by the user.
        var cancelled: Set<GalleryID> = []
        /// Why a gallery's last update failed, where its cache could not take that in.
        var failures: [GalleryID: Failure] = [:]
        /// The same, of pictures.
        var pictureFailures: [Wish.Subject: Failure] = [:]
        var transfers: [Wish.Subject: Progress] = [:]
        var notices: [String] = []
        /// What the user has been told of the disk.
        var troubles: Set<StorageTrouble> = []
        var traffic = Traffic()
        var reports = FailureList()
        /// What the user is to be asked, the oldest first.
        var questions: [SignInQuestion] = []
        /// Where he does not want to be asked, and the galleries that needed it.
        var declinedSignIns: [SignInPlace: Set<GalleryID>] = [:]
        /// Galleries that can go on since who asks is known.
        var answered: Set<GalleryID> = []
    }

    private let state = Mutex(State())
    private let subscribers = Subscribers<Change>()
    private let watching = Subscribers<TrafficInterest>()

    /// How many notices wait to be read, at most; beyond it the oldest go.
    private static let maximumNotices = 20

    /// Makes an activity with nothing going on.
    public init() {}

    /// Notes what a gallery's update is doing.
    public func setPhase(_ phase: SyncPhase, of gallery: GalleryID) {
        change { state in
            state.cancelled.remove(gallery)
            state.failures[gallery] = nil
            state.phases[gallery] = phase
            return Change(galleries: [gallery])
        }
    }

    /// Notes that a gallery's update has ended; how, the cache itself says, unless the user stopped it.
    public func noteEnd(of gallery: GalleryID, cancelled: Bool = false) {
        change { state in
            state.phases[gallery] = nil
            if cancelled { state.cancelled.insert(gallery) } else { state.cancelled.remove(gallery) }
            return Change(galleries: [gallery])
        }
    }

    /// Notes why a gallery's update failed, if the cache cannot be told: until the next one begins.
    public func setFailure(_ failure: Failure, of gallery: GalleryID) {
        change { state in
            state.failures[gallery] = failure
            return Change(galleries: [gallery])
        }
    }

    /// Notes how much of a picture has arrived; nil when its transfer has ended.
    public func setProgress(_ progress: Progress?, of picture: Wish.Subject) {
        change { state in
            state.transfers[picture] = progress
            if progress != nil { state.pictureFailures[picture] = nil }
            return Change(pictures: [picture])
        }
    }

    /// Notes why a picture did not come, if the cache cannot be told: until it is tried again.
    public func setFailure(_ failure: Failure, of picture: Wish.Subject) {
        change { state in
            state.pictureFailures[picture] = failure
            return Change(pictures: [picture])
        }
    }

    /// Notes something that the user should be told, a sentence.
    public func postNotice(_ notice: String) {
        change { state in
            state.notices.append(Address.withoutCredentials(notice))
            if state.notices.count > Self.maximumNotices { state.notices.removeFirst() }
            return Change(hasNotices: true)
        }
    }

    /// Notes that the disk does not take what comes. The user is told once, whatever else fails for it, until he asks for
    /// another attempt.
    public func report(_ trouble: StorageTrouble) {
        let isNew = state.withLock { $0.troubles.insert(trouble).inserted }
        if isNew { postNotice(trouble.notice) }
    }

    /// Whether the disk did not take something.
    public var hasStorageTrouble: Bool {
        state.withLock { !$0.troubles.isEmpty }
    }

    /// Clears what keeps a gallery from being tried again, at the user's request.
    ///
    /// Reports of a full or failing disk are posted again, and the user is asked again for passwords that he declined to give.
    public func retry(_ gallery: GalleryID) {
        state.withLock { state in
            state.troubles = []
            state.declinedSignIns = state.declinedSignIns.filter { !$0.value.contains(gallery) }
        }
    }

    /// Hands out the notices that nobody has read yet.
    public func takeNotices() -> [String] {
        state.withLock { state in
            defer { state.notices = [] }
            return state.notices
        }
    }

    /// How much of a picture has arrived, if it is on its way.
    public func progress(of picture: Wish.Subject) -> Progress? {
        state.withLock { $0.transfers[picture] }
    }

    /// Why a picture did not come, where the cache could not be told.
    public func failure(of picture: Wish.Subject) -> Failure? {
        state.withLock { $0.pictureFailures[picture] }
    }

    /// Whether a gallery is being updated.
    public func isUpdating(_ gallery: GalleryID) -> Bool {
        state.withLock { $0.phases[gallery] != nil }
    }

    /// Whether anything is under way.
    public var isBusy: Bool {
        state.withLock { !$0.phases.isEmpty || !$0.transfers.isEmpty }
    }

    /// What there is to say of a gallery's updates: what is going on, or else what the cache has recorded.
    public func status(of gallery: GalleryID, recorded: SyncStatus) -> SyncStatus {
        var status = recorded
        state.withLock { state in
            if let phase = state.phases[gallery] {
                status.state = .updating(phase)
            } else if state.cancelled.contains(gallery) {
                status.state = .cancelled
            } else if let failure = state.failures[gallery] {
                status.state = .failed(failure)
            }
        }
        return status
    }

    /// Begins to listen.
    public func changes() -> CoalescingStream<Change> {
        subscribers.subscribe()
    }

    private func change(_ body: (inout State) -> Change) {
        let change = state.withLock { body(&$0) }
        subscribers.send(change)
    }
}

/// How much comes from the network, and how well.
extension Activity {
    private struct Traffic {
        var report: TrafficReport?
        var notedAt = Timestamp(milliseconds: 0)
        var history = SpeedHistory()
        var watchers = 0
    }

    /// Notes how the network does. Whoever transfers says so when the first transfer begins, a few times a second while any
    /// run, and once more when the last has ended; what is done for the user alone, the list of the transfers, only while
    /// ``isTrafficWatched``.
    ///
    ///     activity.setTraffic(TrafficReport(running: 3, limit: 8, received: 1_200_000), at: now)
    ///
    /// - Parameter time: when it was so. The speeds of the last minute follow from it and from the bytes received.
    public func setTraffic(_ report: TrafficReport, at time: Timestamp) {
        change { state in
            state.traffic.history.note(received: report.received, at: time)
            state.traffic.notedAt = time
            state.traffic.report = report
            return Change(hasTraffic: true)
        }
    }

    /// How the network did when last it was noted; nil before that.
    public var traffic: TrafficReport? {
        state.withLock { $0.traffic.report }
    }

    /// The bytes that came in each of the sixty seconds before the last note, the oldest first.
    public var speeds: [Int64] {
        state.withLock { $0.traffic.history.seconds.map(\.int64) }
    }

    /// Bytes a second at the last note.
    public var speed: Double {
        state.withLock { $0.traffic.history.speed(at: $0.traffic.notedAt) }
    }

    /// Says that somebody looks at the transfers, for as long as what is returned is kept.
    public func watchTraffic() -> TrafficWatch {
        watch(by: 1)
        return TrafficWatch { [weak self] in self?.watch(by: -1) }
    }

    /// Whether anybody looks at the transfers. If nobody does, nobody need list them.
    public var isTrafficWatched: Bool {
        state.withLock { $0.traffic.watchers > 0 }
    }

    /// Begins to listen to whether anybody looks at the transfers: first whether somebody does now, then what becomes of it.
    /// Who begins to look wants a report at once, even if nothing runs.
    public func trafficInterest() -> CoalescingStream<TrafficInterest> {
        state.withLock { watching.subscribe(beginningWith: TrafficInterest(isWatched: $0.traffic.watchers > 0)) }
    }

    private func watch(by count: Int) {
        // Sent under the lock, so that two cannot arrive in the wrong order.
        state.withLock { state in
            let before = state.traffic.watchers > 0
            state.traffic.watchers += count
            let isWatched = state.traffic.watchers > 0
            if isWatched != before { watching.send(TrafficInterest(isWatched: isWatched)) }
        }
    }
}

extension Activity.Change {
    /// Whether it is about the traffic and about nothing else: of that there is news many times a second.
    public var isTrafficAlone: Bool {
        var rest = self
        rest.hasTraffic = false
        return rest == Activity.Change()
    }
}

/// Whether anybody looks at the transfers.
public struct TrafficInterest: Coalescing, Equatable {
    /// Whether anybody does.
    public var isWatched: Bool

    /// The later one says it all.
    public mutating func merge(_ later: TrafficInterest) {
        self = later
    }
}

/// Says that somebody looks at the transfers, for as long as it is kept: see ``Activity/watchTraffic()``.
public final class TrafficWatch: Sendable {
    private let onEnd: @Sendable () -> Void

    init(onEnd: @escaping @Sendable () -> Void) {
        self.onEnd = onEnd
    }

    deinit {
        onEnd()
    }
}

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

/// Why the cache cannot keep what comes: a matter of the disk, and of nothing that was to be stored.
///
/// Everything suffers from it alike, so it is a thing of its own: told once, and not once a picture.
public enum StorageTrouble: Hashable, Sendable {
    /// There is no room.
    case full
    /// Nothing may be written.
    case readOnly
    /// Writing fails.
    case failing

    /// What the user is told.
    public var notice: String {
        switch self {
        case .full: "The disk is full: nothing new can be kept."
        case .readOnly: "The cache is read-only: nothing new can be kept."
        case .failing: "The disk reports errors: nothing new can be kept. The log says more."
        }
    }
}

/// What the user is to be asked: who he is, where a server wants to know.
extension Activity {
    /// Notes a question. There is one of each place, however many things wait for its answer; and none where the user does
    /// not want to be asked.
    public func ask(_ question: SignInQuestion) {
        change { state in
            if let declined = state.declinedSignIns[question.place] {
                state.declinedSignIns[question.place] = declined.union(question.galleries)
            } else if let place = state.questions.firstIndex(where: { $0.place == question.place }) {
                var question = question
                question.galleries.formUnion(state.questions[place].galleries)
                state.questions[place] = question
            } else {
                state.questions.append(question)
            }
            return Change(hasSignIns: true)
        }
    }

    /// Takes back a question: it is answered, or needs no answer any more.
    public func withdrawQuestion(_ place: SignInPlace) {
        change { state in
            state.questions.removeAll { $0.place == place }
            return Change(hasSignIns: true)
        }
    }

    /// Takes back a question for good, until ``retry(_:)``: the user does not want to say.
    public func declineQuestion(_ place: SignInPlace) {
        change { state in
            let galleries = state.questions.filter { $0.place == place }.reduce(into: Set()) {
                $0.formUnion($1.galleries)
            }
            state.questions.removeAll { $0.place == place }
            state.declinedSignIns[place, default: []].formUnion(galleries)
            return Change(hasSignIns: true)
        }
    }

    /// What the user is to be asked, the oldest question first.
    public var questions: [SignInQuestion] {
        state.withLock { $0.questions }
    }

    /// Notes that a gallery can go on where it was refused: who asks is known now.
    public func noteAnswer(for gallery: GalleryID) {
        change { state in
            state.answered.insert(gallery)
            return Change(hasSignIns: true)
        }
    }

    /// Hands out the galleries that can go on, each once. What they were refused is to be asked for anew.
    public func takeAnswered() -> Set<GalleryID> {
        state.withLock { state in
            defer { state.answered = [] }
            return state.answered
        }
    }
}
