import Model
import Traffic

/// What the controller has to do with each thing that is wished for. Plain bookkeeping: it decides nothing about the
/// network and starts nothing.
///
///                   ┌──────────── renewed, changed, due ───────────┐
///                   ▼                                              │
///     wanted ──▶ queued ──▶ running ──▶ waiting (put off) ─────────┤
///                              │                                   │
///                              └──────▶ settled ───── changed ─────┘
struct Agenda {
    /// Where a thing stands. Indirect, since there may be very many that are queued, and a wait takes thirty times the room.
    indirect enum State: Equatable {
        case queued
        case running(RequestIdentity)
        case waiting(Wait)
        /// There is nothing to do until the cache changes.
        case settled
    }

    /// A wait between two attempts.
    struct Wait: Equatable {
        let since: Duration
        /// When it is over; nil if it lasts until somebody asks.
        var until: Duration?
        /// Before that the host does not want to be asked, as it has said itself.
        var earliest: Duration
        /// Whom it waits for.
        let host: String
        /// Why the attempt before it failed, and how many have.
        let failure: Failure
        let attempts: Int
        /// Whether a success of the host has made it shorter.
        var isShortened = false
    }

    private var wishes: [Wish.Subject: (wish: Wish, place: Int)] = [:]
    private var states: [Wish.Subject: State] = [:]
    /// What waits for another attempt. There may be very much that does not, and these are asked for at every turn.
    private var waits: [Wish.Subject: Wait] = [:]
    private var failedAttempts: [Wish.Subject: Int] = [:]
    /// Why the last of them failed. What is due again has not forgotten it.
    private var lastFailures: [Wish.Subject: Failure] = [:]
    /// How many waits of each were made shorter by a success of its host, since it was well itself.
    private var shortened: [Wish.Subject: Int] = [:]
    private(set) var queue = TransferQueue()
    /// What a governor is told of a wish: the request that would serve it says so.
    private let candidate: (Wish) -> TransferCandidate

    init(candidate: @escaping (Wish) -> TransferCandidate) {
        self.candidate = candidate
    }

    /// Everything that is wanted.
    var subjects: some Collection<Wish.Subject> { wishes.keys }

    func isWanted(_ subject: Wish.Subject) -> Bool { wishes[subject] != nil }
    func state(of subject: Wish.Subject) -> State? { states[subject] }

    /// Takes in what is wanted now. Returns what is not wanted any more, and where it stood.
    mutating func adopt(_ wanted: [Wish]) -> [(subject: Wish.Subject, state: State)] {
        var adopted: [Wish.Subject: (wish: Wish, place: Int)] = [:]
        adopted.reserveCapacity(wanted.count)
        for (place, wish) in wanted.enumerated() { adopted[wish.subject] = (wish, place) }
        let dropped = wishes.keys.filter { adopted[$0] == nil }.map { ($0, states[$0] ?? .settled) }
        wishes = adopted
        for (subject, _) in dropped { forget(subject) }
        for (place, wish) in wanted.enumerated() {
            switch states[wish.subject] {
            case nil: enqueue(wish.subject)
            case .queued: queue.put(wish, place: place, as: candidate(wish))
            case .running, .waiting, .settled: break
            }
        }
        return dropped
    }

    /// Puts something into the queue, unless it is not wanted.
    mutating func enqueue(_ subject: Wish.Subject) {
        guard let (wish, place) = wishes[subject] else { return }
        set(.queued, subject)
        queue.put(wish, place: place, as: candidate(wish))
    }

    /// Takes the first from the queue that is let through.
    mutating func next(
        _ admit: (TransferCandidate) -> Admission
    ) -> (entry: TransferQueue.Entry, way: Admission.Way)? {
        queue.popFirst(admit)
    }

    /// How important something is; nil if nobody wants it.
    func importance(of subject: Wish.Subject) -> Importance? {
        wishes[subject]?.wish.importance
    }

    /// What waits for another attempt.
    var waiting: [(subject: Wish.Subject, wait: Wait)] { waits.map { ($0.key, $0.value) } }

    /// Whether something still waits as it began to, though maybe for less.
    func isWaiting(_ subject: Wish.Subject, since wait: Wait) -> Bool {
        waits[subject].map { ($0.since, $0.attempts) == (wait.since, wait.attempts) } ?? false
    }

    /// Lets what waits for a host wait no longer than for a second: each for a part of it, so that they do not all come at once.
    ///
    /// What fails though the host answers others may fail for ever, and others succeed many times a second. So it is left alone
    /// for a second after its failure, and for twice as long each time that it was woken for nothing.
    ///
    /// - Parameter chance: says which part.
    mutating func wake(_ host: String, at now: Duration, chance: () -> Double) {
        for (subject, wait) in waits where wait.host == host && !wait.isShortened {
            let quiet = Duration.seconds(1 << min(shortened[subject, default: 0], Self.mostDoublings))
            let time = max(max(now, wait.since + quiet) + .seconds(chance()), wait.earliest)
            guard let until = wait.until, time < until else { continue }
            var wait = wait
            (wait.until, wait.isShortened) = (time, true)
            shortened[subject, default: 0] += 1
            set(.waiting(wait), subject)
        }
    }

    /// Beyond this there is nothing that waits for longer.
    private static let mostDoublings = 15

    /// Lets nothing wait any longer than until some time, or as long as its host has asked for.
    ///
    /// - Parameter time: gives each a time of its own.
    mutating func wakeAll(at time: () -> Duration) {
        for (subject, wait) in waits {
            let time = max(time(), wait.earliest)
            guard let until = wait.until, time < until else { continue }
            var wait = wait
            wait.until = time
            set(.waiting(wait), subject)
        }
    }

    mutating func noteRunning(_ subject: Wish.Subject, _ identity: RequestIdentity) {
        set(.running(identity), subject)
    }

    mutating func noteSettled(_ subject: Wish.Subject) {
        guard isWanted(subject) else { return }
        set(.settled, subject)
        forgiveFailures(subject)
    }

    /// Notes where something stands, unless it is not wanted.
    mutating func note(_ state: State, _ subject: Wish.Subject) {
        if isWanted(subject) { set(state, subject) }
    }

    /// Counts one more failed attempt, and returns how many there have been.
    mutating func countFailure(_ subject: Wish.Subject) -> Int {
        failedAttempts[subject, default: 0] += 1
        return failedAttempts[subject, default: 0]
    }

    /// Why the last attempt at something failed, and how many have; nil if none has.
    func setback(of subject: Wish.Subject) -> (failure: Failure, attempts: Int)? {
        lastFailures[subject].map { ($0, failedAttempts[subject, default: 1]) }
    }

    /// Begins the count anew: what failed is another thing now.
    mutating func forgiveFailures(_ subject: Wish.Subject) {
        (failedAttempts[subject], lastFailures[subject], shortened[subject]) = (nil, nil, nil)
    }

    /// When the first of what waits is due.
    var firstDue: Duration? { waits.values.lazy.compactMap(\.until).min() }

    /// Puts everything that is due into the queue.
    mutating func enqueueDue(at now: Duration) {
        for (subject, wait) in waits {
            if let until = wait.until, until <= now { enqueue(subject) }
        }
    }

    private mutating func set(_ state: State?, _ subject: Wish.Subject) {
        states[subject] = state
        guard case .waiting(let wait) = state else { return waits[subject] = nil }
        (waits[subject], lastFailures[subject]) = (wait, wait.failure)
    }

    private mutating func forget(_ subject: Wish.Subject) {
        set(nil, subject)
        forgiveFailures(subject)
        queue.remove(subject)
    }
}
