import Model
import Concurrency
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

    struct State {
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

    let state = Mutex(State())
    private let subscribers = Subscribers<Change>()
    let watching = Subscribers<TrafficInterest>()

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

    /// Begins anew with what the disk does: the user wants to know.
    public func forgetStorageTroubles() {
        state.withLock { $0.troubles = [] }
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

    func change(_ body: (inout State) -> Change) {
        let change = state.withLock { body(&$0) }
        subscribers.send(change)
    }
}
