import Model
import Streams
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
/// Nobody answers. Whoever can fulfil wishes listens to ``snapshots()``; whoever stated them watches the cache.
public final class Wishes: Sendable {
    /// Names somebody who states wishes.
    public struct Wisher: Hashable, Sendable {
        fileprivate let number: Int
    }

    /// Everything that is wished for: each thing once, as important as it is to whoever wants it most, in the order in
    /// which it was stated.
    public struct Snapshot: Coalescing, Equatable {
        /// What, and how soon.
        public var wishes: [Wish] = []
        /// What was asked for, and the number of the asking. Another number is another wish for the same thing: the one
        /// before it was fulfilled or stopped, though no snapshot may have shown that.
        public var asked: [Wish.Subject: Int] = [:]
        /// What was asked for again while it stood: whoever has put it off should not wait any longer.
        public var renewed: Set<Wish.Subject> = []

        /// The later one says it all, but what was renewed stays so.
        public mutating func merge(_ later: Snapshot) {
            wishes = later.wishes
            asked = later.asked
            renewed.formUnion(later.renewed)
        }
    }

    private struct State {
        /// By wisher, in the order in which they came.
        var stated: [(wisher: Wisher, wishes: [Wish])] = []
        /// Asked for, and neither fulfilled nor stopped; each asking has a number.
        var asked: [(wish: Wish, number: Int)] = []
        var nextNumber = 0
        var nextWisher = 0

        var snapshot: Snapshot {
            var places: [Wish.Subject: Int] = [:]
            var wishes: [Wish] = []
            for wish in [asked.map(\.wish), stated.flatMap(\.wishes)].joined() {
                if let place = places[wish.subject] {
                    wishes[place].importance = max(wishes[place].importance, wish.importance)
                } else {
                    places[wish.subject] = wishes.count
                    wishes.append(wish)
                }
            }
            let numbers = asked.map { ($0.wish.subject, $0.number) }
            return Snapshot(wishes: wishes, asked: Dictionary(uniqueKeysWithValues: numbers))
        }
    }

    private let state = Mutex(State())
    private let subscribers = Subscribers<Snapshot>()

    /// Makes an empty set of wishes.
    public init() {}

    /// Gives out a name to state wishes under.
    public func makeWisher() -> Wisher {
        state.withLock { state in
            state.nextWisher += 1
            return Wisher(number: state.nextWisher)
        }
    }

    /// States all that a wisher wants from now on, the most urgent first among equals; what it wanted before and does not
    /// name again is withdrawn.
    public func state(_ wishes: [Wish], by wisher: Wisher) {
        change { state in
            let place = state.stated.firstIndex { $0.wisher == wisher }
            guard wishes != place.map({ state.stated[$0].wishes }) ?? [] else { return false }
            if let place { state.stated.remove(at: place) }
            if !wishes.isEmpty { state.stated.append((wisher, wishes)) }
            return true
        }
    }

    /// Takes back all that a wisher stated.
    public func withdraw(_ wisher: Wisher) {
        state([], by: wisher)
    }

    /// Asks for something once. While it stands, asking again joins it, and at most hurries an attempt that was put off.
    public func ask(for subject: Wish.Subject, importance: Importance = .list) {
        state.withLock { state in
            let isStanding = state.asked.contains { $0.wish.subject == subject }
            if !isStanding {
                state.asked.append((Wish(subject, importance: importance), state.nextNumber))
                state.nextNumber += 1
            }
            var snapshot = state.snapshot
            if isStanding { snapshot.renewed = [subject] }
            subscribers.send(snapshot)
        }
    }

    /// Takes back what was asked for, if it still stands; the work for it stops.
    public func stop(_ subject: Wish.Subject) {
        change { state in
            let count = state.asked.count
            state.asked.removeAll { $0.wish.subject == subject }
            return state.asked.count != count
        }
    }

    /// Says that what was asked for has come true, or never will. What a wisher stated stays the wisher's to take back.
    public func fulfil(_ subject: Wish.Subject) {
        stop(subject)
    }

    /// Whether something was asked for and is neither fulfilled nor stopped.
    public func isStanding(_ subject: Wish.Subject) -> Bool {
        state.withLock { $0.asked.contains { $0.wish.subject == subject } }
    }

    /// Begins to listen: first what is wished for now, then whatever it becomes.
    public func snapshots() -> CoalescingStream<Snapshot> {
        state.withLock { subscribers.subscribe(beginningWith: $0.snapshot) }
    }

    private func change(_ body: (inout State) -> Bool) {
        // Sent under the lock, so that two changes cannot arrive in the wrong order.
        state.withLock { state in
            if body(&state) { subscribers.send(state.snapshot) }
        }
    }
}
