import Model

/// What the controller has to do with each thing that is wished for. Plain bookkeeping: it decides nothing about the
/// network and starts nothing.
///
///                   ┌──────────── renewed, changed, due ───────────┐
///                   ▼                                              │
///     wanted ──▶ queued ──▶ running ──▶ waiting (put off) ─────────┤
///                              │                                   │
///                              └──────▶ settled ───── changed ─────┘
struct Agenda {
    /// Where a thing stands.
    enum State: Equatable {
        case queued
        case running(RequestIdentity)
        case waiting(since: Duration, until: Duration)
        /// There is nothing to do until the cache changes.
        case settled
    }

    private var wishes: [Wish.Subject: (wish: Wish, place: Int)] = [:]
    private var states: [Wish.Subject: State] = [:]
    private var failedAttempts: [Wish.Subject: Int] = [:]
    private(set) var queue = TransferQueue()

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
            case .queued: queue.put(wish, place: place)
            case .running, .waiting, .settled: break
            }
        }
        return dropped
    }

    /// Puts something into the queue, unless it is not wanted.
    mutating func enqueue(_ subject: Wish.Subject) {
        guard let (wish, place) = wishes[subject] else { return }
        states[subject] = .queued
        queue.put(wish, place: place)
    }

    /// Takes the first from the queue, if its importance is let through.
    mutating func next(_ admits: (Importance) -> Bool) -> Wish.Subject? {
        queue.popFirst(admits)?.subject
    }

    mutating func noteRunning(_ subject: Wish.Subject, _ identity: RequestIdentity) {
        states[subject] = .running(identity)
    }

    mutating func noteSettled(_ subject: Wish.Subject) {
        guard isWanted(subject) else { return }
        states[subject] = .settled
        failedAttempts[subject] = nil
    }

    /// Notes where something stands, unless it is not wanted.
    mutating func note(_ state: State, _ subject: Wish.Subject) {
        if isWanted(subject) { states[subject] = state }
    }

    /// Counts one more failed attempt, and returns how many there have been.
    mutating func countFailure(_ subject: Wish.Subject) -> Int {
        failedAttempts[subject, default: 0] += 1
        return failedAttempts[subject, default: 0]
    }

    /// Begins the count anew: what failed is another thing now.
    mutating func forgiveFailures(_ subject: Wish.Subject) {
        failedAttempts[subject] = nil
    }

    /// When the first of what waits is due.
    var firstDue: Duration? {
        states.values.reduce(nil as Duration?) { first, state in
            guard case .waiting(_, let time) = state else { return first }
            return first.map { min($0, time) } ?? time
        }
    }

    /// Puts everything that is due into the queue.
    mutating func enqueueDue(at now: Duration) {
        for (subject, state) in states {
            if case .waiting(_, let time) = state, time <= now { enqueue(subject) }
        }
    }

    private mutating func forget(_ subject: Wish.Subject) {
        states[subject] = nil
        failedAttempts[subject] = nil
        queue.remove(subject)
    }
}
