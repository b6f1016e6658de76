import Concurrency
import Model
import Synchronization

/// The lists and pictures that screens and commands want in the cache. The network controller learns of wishes only
/// here.
///
/// There are two kinds of wishes. A screen states all its wishes together, whenever they change. A user's request, such
/// as an update, is made once and remains until it is fulfilled or stopped. Repeating a request, for example by holding
/// a key, only shortens the wait for a retry.
///
///     wishes.state([Wish(.picture(gallery, key, .thumbnail), importance: .visible)], by: wisher)
///     wishes.ask(for: .list(gallery))
///
/// The user can ``decline(_:)`` a subject, ``retry(_:)`` a failed subject, and ``pause()`` all transfers. Wishes have
/// no replies: the controller follows ``snapshots()``, and screens watch the cache.
public final class Wishes: Sendable {
    /// The identity of a screen or command that states wishes.
    public struct Wisher: Hashable, Sendable {
        let number: Int
    }

    private let state = Mutex(WishList())
    private let subscribers = Subscribers<Snapshot>()
    private let signInSubscribers = Subscribers<BrowserSignInWish>()
    private let statements = Subscribers<WishState>()
    /// The process whose wishes these are; nil for this process.
    private let owner: WishOwner?

    /// Creates an empty set of wishes.
    ///
    /// - Parameter owner: the process that makes the wishes; nil for this process. See ``adopt(_:)``.
    public init(of owner: WishOwner? = nil) {
        self.owner = owner
    }

    /// Creates an identity for a new screen or command.
    public func makeWisher() -> Wisher {
        state.withLock { $0.makeWisher() }
    }

    /// Replaces all wishes of a wisher. Among wishes of equal importance, the first is the most urgent.
    public func state(_ wishes: [Wish], by wisher: Wisher) {
        change { $0.state(wishes, by: wisher) }
    }

    /// Withdraws all wishes of a wisher.
    public func withdraw(_ wisher: Wisher) {
        state([], by: wisher)
    }

    /// Withdraws a wisher's wishes and stops subjects, all in one step. With two steps, a transfer that is about to be
    /// stopped could start in between.
    public func withdraw(_ wisher: Wisher, stopping subjects: [Wish.Subject]) {
        change { list in
            let hasChanged = list.state([], by: wisher)
            return list.stop(Set(subjects)) || hasChanged
        }
    }

    /// Requests a subject once. A second request for the same subject only shortens the wait for a retry.
    public func ask(for subject: Wish.Subject, importance: Importance = .list) {
        ask(for: [subject], importance: importance)
    }

    /// Requests each of several subjects once, all in one step.
    public func ask(for subjects: [Wish.Subject], importance: Importance) {
        guard !subjects.isEmpty else { return }
        if let owner { return subjects.forEach { owner.ask($0) } }
        state.withLock { list in
            let standing = list.ask(for: subjects, importance: importance)
            send(list, retrying: standing)
        }
    }

    /// Stops a requested subject and the work for it.
    public func stop(_ subject: Wish.Subject) { change { $0.stop(subject) } }

    /// Stops requested subjects and the work for them, all in one step.
    public func stop(_ subjects: Set<Wish.Subject>) {
        change { $0.stop(subjects) }
    }

    /// Removes a requested subject that was fulfilled or has failed permanently. Stated wishes stay until they are
    /// withdrawn.
    public func fulfil(_ subject: Wish.Subject) {
        change { list in
            if let owner, let number = list.setFulfilled(subject) { owner.fulfil(subject, number) }
            return list.stop(subject)
        }
    }

    /// Removes a requested subject that another process has fulfilled.
    ///
    /// - Parameter number: the number of the request. A later request for the subject stays.
    public func fulfil(_ subject: Wish.Subject, number: Int) {
        change { $0.number(of: subject) == number && $0.stop(subject) }
    }

    /// Returns whether a subject is requested, and neither fulfilled nor stopped.
    public func isStanding(_ subject: Wish.Subject) -> Bool {
        state.withLock { $0.isStanding(subject) }
    }

    /// The subjects that any wish names or ``hold(_:)`` keeps.
    public var wanted: Set<Wish.Subject> {
        state.withLock { Set($0.snapshot.wishes.map(\.subject)).union($0.held.keys) }
    }

    /// Returns a gallery's photos that any wish names or ``hold(_:)`` keeps.
    public func photos(of gallery: GalleryID) -> Set<PhotoKey> {
        Set(wanted.compactMap { if case .picture(gallery, let key, _) = $0 { key } else { nil } })
    }

    /// Keeps a subject in the cache until ``release(_:)``. An export needs each photo until the export has opened the
    /// photo's file, even if the request for the photo was fulfilled.
    public func hold(_ subject: Wish.Subject) {
        state.withLock { $0.held[subject, default: 0] += 1 }
    }

    /// Returns whether any wish names a subject, or ``hold(_:)`` keeps the subject.
    public func isWanted(_ subject: Wish.Subject) -> Bool {
        state.withLock { list in
            list.held[subject] != nil || list.snapshot.wishes.contains { $0.subject == subject }
        }
    }

    /// Ends the effect of one call of ``hold(_:)``.
    public func release(_ subject: Wish.Subject) {
        state.withLock { list in
            guard let count = list.held[subject] else { return }
            list.held[subject] = count > 1 ? count - 1 : nil
        }
    }

    // MARK: - User decisions

    /// Excludes a subject for now. Stops the subject if it was requested.
    ///
    /// The exclusion holds for all wishers. It ends when the subject is requested again, when all wishes for it are
    /// withdrawn, or when a wish makes it more important. So a user who scrolls back to a photo, or opens it, gets the
    /// photo. ``retry(_:)`` ends all exclusions in a gallery.
    public func decline(_ subject: Wish.Subject) {
        change { $0.decline(subject) }
    }

    /// Returns whether a subject is excluded. See ``decline(_:)``.
    public func isDeclined(_ subject: Wish.Subject) -> Bool { state.withLock { $0.declined[subject] != nil } }

    /// Ends the exclusion of all subjects that the user declined in a gallery.
    public func retry(_ gallery: GalleryID) {
        change { $0.accept(gallery) }
    }

    /// Retries subjects at once. Also ends the exclusion of those subjects that the user declined.
    public func retry(_ subjects: some Collection<Wish.Subject>) {
        state.withLock { list in
            for subject in subjects { list.accept(subject) }
            send(list, retrying: Set(subjects))
        }
    }

    /// Ends all waits for a retry.
    public func retryAll() {
        state.withLock { send($0, retryingAll: true) }
    }

    /// Prevents the start of transfers until ``resume()``.
    ///
    /// Vitrine finishes transfers of data that are on the screen or that the user waits for. Vitrine interrupts the
    /// other transfers, and their wishes stay.
    public func pause() {
        change { $0.setPaused(true) }
    }

    /// Allows transfers again after ``pause()``.
    public func resume() {
        change { $0.setPaused(false) }
    }

    /// Whether the user has paused transfers.
    public var isPaused: Bool {
        state.withLock { $0.isPaused }
    }

    // MARK: - Listening

    /// Returns a stream of snapshots, starting with the current one.
    public func snapshots() -> CoalescingStream<Snapshot> {
        state.withLock { subscribers.subscribe(beginningWith: $0.snapshot) }
    }

    // MARK: - Wishes of another process

    /// Calls `body` now and after each change of the wishes, until the result is released. The method that makes a
    /// change returns after `body` does.
    public func relay(_ body: @escaping @Sendable (WishState) -> Void) -> Relay<WishState> {
        state.withLock { statements.relay(beginningWith: $0.wishState, body) }
    }

    /// Replaces all wishes by the owner's present wishes. Ignores requests that this process has already fulfilled.
    public func adopt(_ wishes: WishState) {
        state.withLock { list in
            list.adopt(wishes)
            send(list, retrying: wishes.retried, retryingAll: wishes.areAllRetried)
        }
    }

    // MARK: - Sign-ins

    /// Calls `body` with each requested sign-in, until the result is released.
    public func relayBrowserSignIns(
        _ body: @escaping @Sendable (BrowserSignInWish) -> Void
    ) -> Relay<BrowserSignInWish> {
        state.withLock { signInSubscribers.relay(beginningWith: BrowserSignInWish(signIn: $0.browserSignIn), body) }
    }

    /// Requests a sign-in with the browser, in place of an earlier sign-in. Nil ends the earlier sign-in.
    public func signIn(withBrowser signIn: BrowserSignIn?) {
        state.withLock { list in
            guard list.browserSignIn != signIn else { return }
            list.browserSignIn = signIn
            signInSubscribers.send(BrowserSignInWish(signIn: signIn))
        }
    }

    /// Returns a stream of requested sign-ins, starting with the current one.
    public func browserSignIns() -> CoalescingStream<BrowserSignInWish> {
        state.withLock {
            signInSubscribers.subscribe(beginningWith: BrowserSignInWish(signIn: $0.browserSignIn))
        }
    }

    private func change(_ body: (inout WishList) -> Bool) {
        state.withLock { list in
            if body(&list) { send(list) }
        }
    }

    /// Sends a snapshot to the listeners. The caller holds the lock, so that two changes cannot arrive in the wrong
    /// order.
    private func send(_ list: WishList, retrying subjects: Set<Wish.Subject> = [], retryingAll isAll: Bool = false) {
        if statements.areWaiting {
            var wishes = list.wishState
            (wishes.retried, wishes.areAllRetried) = (subjects, isAll)
            statements.send(wishes)
        }
        guard subscribers.areWaiting else { return }
        var snapshot = list.snapshot
        snapshot.retried = subjects
        snapshot.areAllRetried = isAll
        subscribers.send(snapshot)
    }
}

extension Wishes {
    /// All wishes: first the requests, then the stated wishes. Each subject occurs once, with its highest importance.
    public struct Snapshot: Coalescing, Equatable {
        /// The wishes, without declined subjects.
        public var wishes: [Wish] = []
        /// The requested subjects with numbers. A new number means that the earlier request was fulfilled or stopped,
        /// even if no snapshot showed it.
        public var asked: [Wish.Subject: Int] = [:]
        /// The subjects whose waits for a retry should end.
        public var retried: Set<Wish.Subject> = []
        /// Whether all waits for a retry should end.
        public var areAllRetried = false
        /// The subjects that the user declined. Declined subjects are not among the wishes, and bulk fetches must leave
        /// them out.
        public var declined: Set<Wish.Subject> = []
        /// Whether the user has paused transfers. Transfers less important than ``Importance/visible`` are interrupted
        /// and continue later.
        public var isPaused = false

        /// Takes the later wishes, and keeps the retries of both snapshots.
        public mutating func merge(_ later: Snapshot) {
            wishes = later.wishes
            asked = later.asked
            retried.formUnion(later.retried)
            areAllRetried = areAllRetried || later.areAllRetried
            declined = later.declined
            isPaused = later.isPaused
        }
    }
}

/// The state of ``Wishes``. The mutating methods return whether listeners must be notified.
struct WishList {
    /// The stated wishes of each wisher. The latest statement comes last.
    private var stated: [(wisher: Wishes.Wisher, wishes: [Wish])] = []
    /// The requested subjects with their numbers.
    private var asked: [(wish: Wish, number: Int)] = []
    /// The declined subjects, with their importance when the user declined them.
    private(set) var declined: [Wish.Subject: Importance] = [:]
    private(set) var isPaused = false
    /// The number of holders of each held subject. Callers may change it, because no other property depends on it.
    var held: [Wish.Subject: Int] = [:]
    /// The sign-in with the browser. Callers may change it, because no other property depends on it.
    var browserSignIn: BrowserSignIn?
    private var nextNumber = 0
    private var nextWisher = 0
    /// The requests that this process has fulfilled, until the process that made them knows.
    private var fulfilled: [Wish.Subject: Int] = [:]

    mutating func makeWisher() -> Wishes.Wisher {
        nextWisher += 1
        return Wishes.Wisher(number: nextWisher)
    }

    mutating func state(_ wishes: [Wish], by wisher: Wishes.Wisher) -> Bool {
        let index = stated.firstIndex { $0.wisher == wisher }
        let before = index.map { stated[$0].wishes } ?? []
        guard wishes != before else { return false }
        if let index { stated.remove(at: index) }
        if !wishes.isEmpty { stated.append((wisher, wishes)) }
        if !declined.isEmpty { adaptDeclined(from: before, to: wishes) }
        return true
    }

    /// Ends the exclusion of declined subjects that became more important or that no wish names any more.
    private mutating func adaptDeclined(from before: [Wish], to now: [Wish]) {
        for wish in now {
            if let importance = declined[wish.subject], wish.importance > importance { declined[wish.subject] = nil }
        }
        for wish in before where declined[wish.subject] != nil && importance(of: wish.subject) == nil {
            declined[wish.subject] = nil
        }
    }

    /// Requests subjects, even declined ones. Returns the subjects that were already requested.
    mutating func ask(for subjects: [Wish.Subject], importance: Importance) -> Set<Wish.Subject> {
        var known = Set(asked.lazy.map(\.wish.subject))
        var standing: Set<Wish.Subject> = []
        for subject in subjects {
            accept(subject)
            if known.insert(subject).inserted {
                asked.append((Wish(subject, importance: importance), nextNumber))
                nextNumber += 1
            } else {
                standing.insert(subject)
            }
        }
        return standing
    }

    mutating func stop(_ subject: Wish.Subject) -> Bool { stop(where: { $0 == subject }) }

    mutating func stop(_ subjects: Set<Wish.Subject>) -> Bool { stop(where: subjects.contains) }

    private mutating func stop(where isMeant: (Wish.Subject) -> Bool) -> Bool {
        let count = asked.count
        asked.removeAll { isMeant($0.wish.subject) }
        return asked.count != count
    }

    func isStanding(_ subject: Wish.Subject) -> Bool {
        asked.contains { $0.wish.subject == subject }
    }

    /// Returns the number of the request for a subject. Returns nil if the subject was not requested.
    func number(of subject: Wish.Subject) -> Int? {
        asked.first { $0.wish.subject == subject }?.number
    }

    /// Records that a request is fulfilled. Returns the request's number.
    mutating func setFulfilled(_ subject: Wish.Subject) -> Int? {
        guard let number = number(of: subject) else { return nil }
        fulfilled[subject] = number
        return number
    }

    /// Everything that another process needs to know of these wishes.
    var wishState: WishState {
        WishState(
            stated: stated.flatMap(\.wishes), asked: asked.map { WishState.Request(wish: $0.wish, number: $0.number) },
            declined: Set(declined.keys), isPaused: isPaused)
    }

    /// Takes over the wishes of another process.
    mutating func adopt(_ wishes: WishState) {
        let numbers = wishes.asked.map { ($0.wish.subject, $0.number) }
        let known = Dictionary(numbers) { first, _ in first }
        fulfilled = fulfilled.filter { known[$0.key] == $0.value }
        stated = wishes.stated.isEmpty ? [] : [(Wishes.Wisher(number: 0), wishes.stated)]
        asked = wishes.asked.filter { fulfilled[$0.wish.subject] != $0.number }.map { ($0.wish, $0.number) }
        declined = Dictionary(wishes.declined.map { ($0, Importance.rest) }) { first, _ in first }
        isPaused = wishes.isPaused
    }

    mutating func decline(_ subject: Wish.Subject) -> Bool {
        let wasStopped = stop(subject)
        let importance = importance(of: subject)
        // A bulk fetch may include a picture that no screen has stated.
        guard importance != nil || subject.isPicture else { return wasStopped }
        return declined.updateValue(importance ?? .rest, forKey: subject) == nil || wasStopped
    }

    mutating func accept(_ subject: Wish.Subject) {
        declined[subject] = nil
    }

    mutating func accept(_ gallery: GalleryID) -> Bool {
        let count = declined.count
        declined = declined.filter { $0.key.gallery != gallery }
        return declined.count != count
    }

    mutating func setPaused(_ isPaused: Bool) -> Bool {
        defer { self.isPaused = isPaused }
        return self.isPaused != isPaused
    }

    /// Returns the highest stated importance of a subject. Returns nil if no wisher states it.
    private func importance(of subject: Wish.Subject) -> Importance? {
        stated.lazy.flatMap(\.wishes).filter { $0.subject == subject }.map(\.importance).max()
    }

    var snapshot: Wishes.Snapshot {
        var indices: [Wish.Subject: Int] = [:]
        var wishes: [Wish] = []
        for wish in [asked.map(\.wish), stated.flatMap(\.wishes)].joined() where declined[wish.subject] == nil {
            if let index = indices[wish.subject] {
                wishes[index].importance = max(wishes[index].importance, wish.importance)
            } else {
                indices[wish.subject] = wishes.count
                wishes.append(wish)
            }
        }
        let numbers = asked.map { ($0.wish.subject, $0.number) }
        return Wishes.Snapshot(
            wishes: wishes, asked: Dictionary(uniqueKeysWithValues: numbers), declined: Set(declined.keys),
            isPaused: isPaused)
    }
}

extension Wish.Subject {
    fileprivate var isPicture: Bool {
        if case .picture = self { true } else { false }
    }
}

/// All wishes of one process, for another process that fulfils them.
public struct WishState: Coalescing, Equatable {
    /// A requested subject.
    public struct Request: Hashable, Sendable {
        /// The subject with its importance.
        public var wish: Wish
        /// The number of the request. A later request for the same subject has another number.
        public var number: Int

        /// Creates a request.
        public init(wish: Wish, number: Int) {
            (self.wish, self.number) = (wish, number)
        }
    }

    /// The wishes of all screens.
    public var stated: [Wish] = []
    /// The requests of the user.
    public var asked: [Request] = []
    /// The declined subjects.
    public var declined: Set<Wish.Subject> = []
    /// Whether the user has paused transfers.
    public var isPaused = false
    /// The subjects whose waits for a retry should end.
    public var retried: Set<Wish.Subject> = []
    /// Whether all waits for a retry should end.
    public var areAllRetried = false

    /// Creates a state.
    public init(
        stated: [Wish] = [], asked: [Request] = [], declined: Set<Wish.Subject> = [], isPaused: Bool = false
    ) {
        (self.stated, self.asked, self.declined, self.isPaused) = (stated, asked, declined, isPaused)
    }

    /// Takes the later wishes, and keeps the retries of both states.
    public mutating func merge(_ later: WishState) {
        let (retried, areAllRetried) = (retried, areAllRetried)
        self = later
        self.retried.formUnion(retried)
        self.areAllRetried = self.areAllRetried || areAllRetried
    }
}

/// The process that makes wishes, seen from the process that fulfils them.
public struct WishOwner: Sendable {
    let ask: @Sendable (Wish.Subject) -> Void
    let fulfil: @Sendable (Wish.Subject, Int) -> Void

    /// - Parameters:
    ///   - ask: asks the owner to request a subject that has changed.
    ///   - fulfil: reports that the request with a number is fulfilled. Neither function may block, or call the wishes.
    public init(
        ask: @escaping @Sendable (Wish.Subject) -> Void, fulfil: @escaping @Sendable (Wish.Subject, Int) -> Void
    ) {
        (self.ask, self.fulfil) = (ask, fulfil)
    }
}
