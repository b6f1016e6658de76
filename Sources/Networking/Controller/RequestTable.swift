import Model
import Numbers
import Scheduling

/// What the controller has to do with each thing that is wished for. Plain bookkeeping: it decides nothing about the
/// network and starts nothing.
///
///                   ┌──────────── renewed, changed, due ───────────┐
///                   ▼                                              │
///     wanted ──▶ queued ──▶ running ──▶ waiting (put off) ─────────┤
///                              │                                   │
///                              └──────▶ settled ───── changed ─────┘
struct RequestTable {
    /// What there is of each thing that is wanted, and there may be a hundred thousand: what only some of them have stands beside.
    private struct Thing {
        var importance: Importance
        var phase: Phase
        /// Among those that are as important.
        var rank: Int32
        /// In which adoption it was wanted last.
        var adoption: UInt32
    }

    private enum Phase { case new, queued, running, waiting, settled }

    /// How often something has failed since it was well.
    private struct Setback {
        var attempts = 0
        /// Why, the last time. What is due again has not forgotten it.
        var failure: Failure?
        /// How many waits were made shorter by a success of the host.
        var shortened = 0
    }

    /// Everything that is wanted, with a number for each.
    private var things = Roster<Wish.Subject, Thing>()
    private var adoption: UInt32 = 0
    /// By number.
    private var running: [Int: RequestIdentity] = [:]
    /// What waits for another attempt. There may be very much that does not, and these are asked for at every turn.
    private var waits: [Int: Wait] = [:]
    private var setbacks: [Int: Setback] = [:]
    private(set) var queue = TransferQueue()
    /// What a governor is told of a wish: the request that would serve it says so.
    private let candidate: (Wish) -> TransferCandidate

    init(candidate: @escaping (Wish) -> TransferCandidate) {
        self.candidate = candidate
    }

    /// Everything that is wanted.
    var subjects: some Sequence<Wish.Subject> { things.numbers.lazy.map { [things] in things.key($0) } }

    func isWanted(_ subject: Wish.Subject) -> Bool { things.number(of: subject) != nil }
    func state(of subject: Wish.Subject) -> State? { things.number(of: subject).flatMap(state) }

    private func state(_ number: Int) -> State? {
        switch things[number].phase {
        case .new: nil
        case .queued: .queued
        case .running: running[number].map { .running($0) }
        case .waiting: waits[number].map { .waiting($0) }
        case .settled: .settled
        }
    }

    /// Takes in what is wanted now, each thing once. Returns what is not wanted any more, and where it stood.
    mutating func adopt(_ wanted: some Collection<Wish>) -> [(subject: Wish.Subject, state: State)] {
        adoption &+= 1
        for wish in wanted { if let number = things.number(of: wish.subject) { things[number].adoption = adoption } }
        // First what goes, and then what comes, which takes its room.
        let dropped = things.numbers.filter { things[$0].adoption != adoption }
            .map { ($0, things.key($0), state($0) ?? .settled) }
        for (number, _, _) in dropped { forget(number) }
        things.reserve(wanted.count)
        for (rank, wish) in wanted.enumerated() {
            let number =
                things.number(of: wish.subject)
                ?? things.add(
                    wish.subject, Thing(importance: wish.importance, phase: .new, rank: 0, adoption: adoption))
            (things[number].importance, things[number].rank) = (wish.importance, Int32(clamping: rank))
            if [.new, .queued].contains(things[number].phase) { enqueue(number) }
        }
        return dropped.map { ($0.1, $0.2) }
    }

    /// Puts something into the queue, unless it is not wanted.
    mutating func enqueue(_ subject: Wish.Subject) {
        if let number = things.number(of: subject) { enqueue(number) }
    }

    private mutating func enqueue(_ number: Int) {
        set(.queued, number)
        let thing = things[number]
        queue.put(
            number, thing.importance, rank: Int(clamping: thing.rank),
            as: candidate(Wish(things.key(number), importance: thing.importance)))
    }

    /// Takes the first from the queue that is let through.
    mutating func next(
        _ admit: (TransferCandidate) -> Admission
    ) -> (subject: Wish.Subject, candidate: TransferCandidate, way: Admission.Way)? {
        queue.popFirst(admit).map { (things.key($0.number), $0.candidate, $1) }
    }

    /// What is queued, the most important first, up to so much.
    func queued(_ limit: Int) -> [(subject: Wish.Subject, candidate: TransferCandidate)] {
        queue.first(limit).map { (things.key($0.number), $0.candidate) }
    }

    /// How important something is; nil if nobody wants it.
    func importance(of subject: Wish.Subject) -> Importance? {
        things.number(of: subject).map { things[$0].importance }
    }

    /// What waits for another attempt.
    var waiting: [(subject: Wish.Subject, wait: Wait)] { waits.map { (things.key($0), $1) } }

    /// Whether something still waits as it began to, though maybe for less.
    func isWaiting(_ subject: Wish.Subject, since wait: Wait) -> Bool {
        guard case .waiting(let now) = state(of: subject) else { return false }
        return (now.since, now.attempts) == (wait.since, wait.attempts)
    }

    /// Lets what waits for a host wait no longer than for a second: each for a part of it, so that they do not all come at once.
    ///
    /// What fails though the host answers others may fail for ever, and others succeed many times a second. So it is left alone
    /// for a second after its failure, and for twice as long each time that it was woken for nothing.
    ///
    /// - Parameter chance: says which part.
    /// - Returns: what waits for less now.
    mutating func wake(_ host: String, at now: Duration, chance: () -> Double) -> [Wish.Subject] {
        var woken: [Wish.Subject] = []
        for (number, wait) in waits where wait.host == host && !wait.isShortened {
            let shortened = setbacks[number]?.shortened ?? 0
            let quiet = Duration.seconds(1 << min(shortened, Self.mostDoublings))
            let time = max(max(now, wait.since + quiet) + .seconds(clamped: chance()), wait.earliest)
            guard let until = wait.until, time < until else { continue }
            var wait = wait
            (wait.until, wait.isShortened) = (time, true)
            setbacks[number, default: Setback()].shortened += 1
            set(.waiting(wait), number)
            woken.append(things.key(number))
        }
        return woken
    }

    /// Beyond this there is nothing that waits for longer.
    private static let mostDoublings = 15

    /// Lets nothing wait any longer than until some time, or as long as its host has asked for.
    ///
    /// - Parameter time: gives each a time of its own.
    /// - Returns: what waits for less now.
    mutating func wakeAll(at time: () -> Duration) -> [Wish.Subject] {
        var woken: [Wish.Subject] = []
        for (number, wait) in waits {
            let time = max(time(), wait.earliest)
            guard let until = wait.until, time < until else { continue }
            var wait = wait
            wait.until = time
            set(.waiting(wait), number)
            woken.append(things.key(number))
        }
        return woken
    }

    mutating func noteRunning(_ subject: Wish.Subject, _ identity: RequestIdentity) {
        note(.running(identity), subject)
    }

    mutating func noteSettled(_ subject: Wish.Subject) {
        guard let number = things.number(of: subject) else { return }
        set(.settled, number)
        setbacks[number] = nil
    }

    /// Notes where something stands, unless it is not wanted.
    mutating func note(_ state: State, _ subject: Wish.Subject) {
        if let number = things.number(of: subject) { set(state, number) }
    }

    /// Counts one more failed attempt, and returns how many there have been. Of what is not wanted nothing is counted.
    mutating func countFailure(_ subject: Wish.Subject) -> Int {
        guard let number = things.number(of: subject) else { return 1 }
        setbacks[number, default: Setback()].attempts += 1
        return setbacks[number, default: Setback()].attempts
    }

    /// Why the last attempt at something failed, and how many have; nil if none has.
    func setback(of subject: Wish.Subject) -> (failure: Failure, attempts: Int)? {
        guard let setback = things.number(of: subject).flatMap({ setbacks[$0] }), let failure = setback.failure
        else { return nil }
        return (failure, max(setback.attempts, 1))
    }

    /// Begins the count of attempts anew, and keeps why the last one failed.
    mutating func restartSchedule(of subject: Wish.Subject) {
        guard let number = things.number(of: subject), let setback = setbacks[number] else { return }
        setbacks[number] = Setback(failure: setback.failure)
    }

    /// Begins the count anew: what failed is another thing now.
    mutating func forgiveFailures(_ subject: Wish.Subject) {
        if let number = things.number(of: subject) { setbacks[number] = nil }
    }

    /// When the first of what waits is due.
    var firstDue: Duration? { waits.values.lazy.compactMap(\.until).min() }

    /// Puts everything that is due into the queue, and returns it.
    mutating func enqueueDue(at now: Duration) -> [Wish.Subject] {
        let due = waits.filter { $0.value.until.map { $0 <= now } ?? false }.keys
        for number in due { enqueue(number) }
        return due.map { things.key($0) }
    }

    private mutating func set(_ state: State, _ number: Int) {
        (running[number], waits[number]) = (nil, nil)
        switch state {
        case .queued: things[number].phase = .queued
        case .running(let identity): (things[number].phase, running[number]) = (.running, identity)
        case .waiting(let wait):
            (things[number].phase, waits[number]) = (.waiting, wait)
            setbacks[number, default: Setback()].failure = wait.failure
        case .settled: things[number].phase = .settled
        }
    }

    private mutating func forget(_ number: Int) {
        (running[number], waits[number], setbacks[number]) = (nil, nil, nil)
        queue.remove(number)
        things.remove(number)
    }
}

extension RequestTable {
    /// Where a thing stands.
    enum State: Equatable {
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
}
