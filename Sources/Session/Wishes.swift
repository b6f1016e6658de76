import Concurrency
import Model
import Synchronization

/// What the screens would like the cache to have: the one thing that the network hears of them.
///
/// There are two kinds. What a screen needs in order to draw stands for as long as the screen says so: each wisher states
/// all of it as a whole, whenever it changes. What a user asks for once, an update of a gallery, stands until it has been
/// fulfilled or is stopped; asked for again while it stands, it changes nothing, however long a key is held.
///
///     wishes.state([Wish(.picture(gallery, key, .thumbnail), importance: .visible)], by: wisher)
///     wishes.ask(for: .list(gallery))
///
/// The user can take part in it: ``decline(_:)`` something that somebody wants, ``retry(_:)`` what was put off, and
/// ``pause()`` everything.
///
/// Nobody answers. Whoever can fulfil wishes listens to ``snapshots()``; whoever stated them watches the cache.
public final class Wishes: Sendable {
    /// Names somebody who states wishes.
    public struct Wisher: Hashable, Sendable {
        let number: Int
    }

    private let state = Mutex(WishList())
    private let subscribers = Subscribers<Snapshot>()

    /// Makes an empty set of wishes.
    public init() {}

    /// Gives out a name to state wishes under.
    public func makeWisher() -> Wisher {
        state.withLock { $0.makeWisher() }
    }

    /// States all that a wisher wants from now on, the most urgent first among equals; what it wanted before and does not
    /// name again is withdrawn.
    public func state(_ wishes: [Wish], by wisher: Wisher) {
        change { $0.state(wishes, by: wisher) }
    }

    /// Takes back all that a wisher stated.
    public func withdraw(_ wisher: Wisher) {
        state([], by: wisher)
    }

    /// The same, and takes back with it what was asked for: one after the other, each that goes would make room for the rest.
    public func withdraw(_ wisher: Wisher, stopping subjects: [Wish.Subject]) {
        change { list in
            subjects.reduce(list.state([], by: wisher)) { hasChanged, subject in list.stop(subject) || hasChanged }
        }
    }

    /// Asks for something once. While it stands, asking again joins it, and at most hurries an attempt that was put off.
    public func ask(for subject: Wish.Subject, importance: Importance = .list) {
        state.withLock { list in
            let isNew = list.ask(for: subject, importance: importance)
            send(list, retrying: isNew ? [] : [subject])
        }
    }

    /// Takes back what was asked for, if it still stands; the work for it stops.
    public func stop(_ subject: Wish.Subject) {
        change { $0.stop(subject) }
    }

    /// Says that what was asked for has come true, or never will. What a wisher stated stays the wisher's to take back.
    public func fulfil(_ subject: Wish.Subject) {
        stop(subject)
    }

    /// Whether something was asked for and is neither fulfilled nor stopped.
    public func isStanding(_ subject: Wish.Subject) -> Bool {
        state.withLock { $0.isStanding(subject) }
    }

    /// The photos of a gallery of which something is wished for, by whomever.
    public func photos(of gallery: GalleryID) -> Set<PhotoKey> {
        state.withLock { list in
            Set(
                list.snapshot.wishes.compactMap { wish in
                    if case .picture(gallery, let key, _) = wish.subject { key } else { nil }
                })
        }
    }

    // MARK: - What the user makes of it

    /// “Not now”: something is not wanted, whoever states it. What was asked for is stopped.
    ///
    /// It holds until it is asked for anew, is stated again after nobody stated it, or comes to be more important than it is
    /// now: who scrolls back to a photo, or opens it, wants it after all. ``retry(_:)`` ends it for a whole gallery.
    public func decline(_ subject: Wish.Subject) {
        change { $0.decline(subject) }
    }

    /// Accepts everything again that the user declined in a gallery.
    public func retry(_ gallery: GalleryID) {
        change { $0.accept(gallery) }
    }

    /// Whether something was declined.
    public func isDeclined(_ subject: Wish.Subject) -> Bool {
        state.withLock { $0.declined[subject] != nil }
    }

    /// Ends the waits of subjects that are to be retried, and accepts those that the user declined.
    public func retry(_ subjects: some Collection<Wish.Subject>) {
        state.withLock { list in
            for subject in subjects { list.accept(subject) }
            send(list, retrying: Set(subjects))
        }
    }

    /// Ends every wait for a retry.
    public func retryAll() {
        state.withLock { send($0, retryingAll: true) }
    }

    /// Nothing is begun from now on, until ``resume()``.
    ///
    /// What is under way is finished if somebody looks at it or waits for it; what is fetched for later, for thumbnails near
    /// by and for the rest, is interrupted. All of it stays wished for.
    public func pause() {
        change { $0.setPaused(true) }
    }

    /// Goes on after ``pause()``.
    public func resume() {
        change { $0.setPaused(false) }
    }

    /// Whether nothing is to be begun.
    public var isPaused: Bool {
        state.withLock { $0.isPaused }
    }

    // MARK: - Listening

    /// Begins to listen: first what is wished for now, then whatever it becomes.
    public func snapshots() -> CoalescingStream<Snapshot> {
        state.withLock { subscribers.subscribe(beginningWith: $0.snapshot) }
    }

    private func change(_ body: (inout WishList) -> Bool) {
        state.withLock { list in
            if body(&list) { send(list) }
        }
    }

    /// Sent under the lock, so that two changes cannot arrive in the wrong order.
    private func send(_ list: WishList, retrying subjects: Set<Wish.Subject> = [], retryingAll isAll: Bool = false) {
        var snapshot = list.snapshot
        snapshot.retried = subjects
        snapshot.areAllRetried = isAll
        subscribers.send(snapshot)
    }
}

extension Wishes {
    /// Everything that is wished for: each thing once, as important as it is to whoever wants it most, in the order in
    /// which it was stated.
    public struct Snapshot: Coalescing, Equatable {
        /// What, and how soon.
        public var wishes: [Wish] = []
        /// What was asked for, and the number of the asking. Another number is another wish for the same thing: the one
        /// before it was fulfilled or stopped, though no snapshot may have shown that.
        public var asked: [Wish.Subject: Int] = [:]
        /// What was asked for again while it stood: whoever has put it off should not wait any longer.
        public var retried: Set<Wish.Subject> = []
        /// Whether all that was put off should not wait any longer.
        public var areAllRetried = false
        /// What the user does not want now. It is not among the wishes; and whoever serves a wish for many things at once,
        /// for every picture of a gallery, is to leave these out.
        public var declined: Set<Wish.Subject> = []
        /// Whether nothing is to be begun. What is under way goes on if it is at least ``Importance/visible``; the rest is
        /// interrupted, and has its turn when this is over.
        public var isPaused = false

        /// The later one says it all, but what is to be retried stays so.
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

/// The bookkeeping of ``Wishes``. What changes it returns whether there is something else to be heard of it.
struct WishList {
    /// By wisher, in the order in which they came.
    private var stated: [(wisher: Wishes.Wisher, wishes: [Wish])] = []
    /// Asked for, and neither fulfilled nor stopped; each asking has a number.
    private var asked: [(wish: Wish, number: Int)] = []
    /// What the user does not want now, and how important it was when he said so.
    private(set) var declined: [Wish.Subject: Importance] = [:]
    private(set) var isPaused = false
    private var nextNumber = 0
    private var nextWisher = 0

    mutating func makeWisher() -> Wishes.Wisher {
        nextWisher += 1
        return Wishes.Wisher(number: nextWisher)
    }

    mutating func state(_ wishes: [Wish], by wisher: Wishes.Wisher) -> Bool {
        let place = stated.firstIndex { $0.wisher == wisher }
        let before = place.map { stated[$0].wishes } ?? []
        guard wishes != before else { return false }
        if let place { stated.remove(at: place) }
        if !wishes.isEmpty { stated.append((wisher, wishes)) }
        if !declined.isEmpty { adaptDeclined(from: before, to: wishes) }
        return true
    }

    /// Nobody states it any more: when somebody does again, that is another wish. Or it is wanted more than it was.
    private mutating func adaptDeclined(from before: [Wish], to now: [Wish]) {
        for wish in now {
            if let importance = declined[wish.subject], wish.importance > importance { declined[wish.subject] = nil }
        }
        for wish in before where declined[wish.subject] != nil && importance(of: wish.subject) == nil {
            declined[wish.subject] = nil
        }
    }

    /// Returns false if it stands already. Whoever asks for what was declined wants it after all.
    mutating func ask(for subject: Wish.Subject, importance: Importance) -> Bool {
        accept(subject)
        guard !isStanding(subject) else { return false }
        asked.append((Wish(subject, importance: importance), nextNumber))
        nextNumber += 1
        return true
    }

    mutating func stop(_ subject: Wish.Subject) -> Bool {
        let count = asked.count
        asked.removeAll { $0.wish.subject == subject }
        return asked.count != count
    }

    func isStanding(_ subject: Wish.Subject) -> Bool {
        asked.contains { $0.wish.subject == subject }
    }

    mutating func decline(_ subject: Wish.Subject) -> Bool {
        let wasStopped = stop(subject)
        let importance = importance(of: subject)
        // A picture need not be stated: it may be one of every picture.
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

    /// How important something is to whoever states it; nil if nobody does.
    private func importance(of subject: Wish.Subject) -> Importance? {
        stated.lazy.flatMap(\.wishes).filter { $0.subject == subject }.map(\.importance).max()
    }

    var snapshot: Wishes.Snapshot {
        var places: [Wish.Subject: Int] = [:]
        var wishes: [Wish] = []
        for wish in [asked.map(\.wish), stated.flatMap(\.wishes)].joined() where declined[wish.subject] == nil {
            if let place = places[wish.subject] {
                wishes[place].importance = max(wishes[place].importance, wish.importance)
            } else {
                places[wish.subject] = wishes.count
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
