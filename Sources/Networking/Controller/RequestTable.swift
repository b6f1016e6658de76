import Model
import Numbers
import Scheduling

/// The states of all subjects, such as pictures, that wishes name. The table makes no decisions about the network and
/// starts nothing.
///
///                   ┌───────────── retry, change, due ─────────────┐
///                   ▼                                              │
///     wanted ──▶ queued ──▶ running ──▶ waiting (for a retry) ─────┤
///                              │                                   │
///                              └──────▶ settled ───── change ──────┘
struct RequestTable {
    enum State: Equatable {
        case queued
        case running(RequestIdentity)
        case waiting(Wait)
        /// The subject needs no work until the cache changes.
        case settled
    }

    /// A wait between two attempts to fetch a subject.
    struct Wait: Equatable {
        let since: Duration
        /// The time when the wait ends. The time is nil if only the user can end the wait.
        var until: Duration?
        /// The earliest time at which the host permits another attempt.
        var earliest: Duration
        let host: String
        /// The reason why the attempt before the wait failed.
        let failure: Failure
        /// The number of failed attempts.
        let attempts: Int
        /// Whether an answer of the host to another request has shortened the wait.
        var isShortened = false
    }

    /// The state of one subject. There may be 100,000 subjects, so rare facts are stored in dictionaries of their own.
    private struct Entry {
        /// The number of the subject in the queue.
        let number: Int
        var importance: Importance
        var phase = Phase.new
        /// The position among subjects of the same importance.
        var rank = 0
        /// The number of the last call of ``adopt(_:)`` that named the subject.
        var adoption: UInt32
    }

    private enum Phase { case new, queued, running, waiting, settled }

    /// The failures of a subject since its last success.
    private struct Setback {
        var attempts = 0
        /// The last failure. The failure stays while the subject is queued again.
        var failure: Failure?
        /// The number of waits that an answer of the host has shortened.
        var shortened = 0
    }

    private var entries: [Wish.Subject: Entry] = [:]
    /// The subjects by their numbers in the queue; nil where a number is free.
    private var numbered: [Wish.Subject?] = []
    private var freeNumbers: [Int] = []
    private var adoption: UInt32 = 0
    private var running: [Wish.Subject: RequestIdentity] = [:]
    private var waits: [Wish.Subject: Wait] = [:]
    private var setbacks: [Wish.Subject: Setback] = [:]
    /// The waits of subjects that no wish names any more. Their hosts asked for a time that has not come yet.
    private var kept: [Wish.Subject: (wait: Wait, setback: Setback)] = [:]
    private(set) var queue = TransferQueue()
    /// Describes the transfer for a wish to the governor.
    private let candidate: (Wish) -> TransferCandidate
    /// Returns whether the cache still shows the last failure of a subject.
    private let hasFailed: (Wish.Subject) -> Bool

    /// The maximum number of kept waits.
    private static let maximumKept = 4_096

    init(candidate: @escaping (Wish) -> TransferCandidate, hasFailed: @escaping (Wish.Subject) -> Bool) {
        (self.candidate, self.hasFailed) = (candidate, hasFailed)
    }

    /// All subjects that wishes name.
    var subjects: some Sequence<Wish.Subject> { entries.keys }

    func isWanted(_ subject: Wish.Subject) -> Bool { entries[subject] != nil }

    func state(of subject: Wish.Subject) -> State? {
        switch entries[subject]?.phase {
        case .new, nil: nil
        case .queued: .queued
        case .running: running[subject].map { .running($0) }
        case .waiting: waits[subject].map { .waiting($0) }
        case .settled: .settled
        }
    }

    /// Returns the importance of a subject. Returns nil if no wish names the subject.
    func importance(of subject: Wish.Subject) -> Importance? { entries[subject]?.importance }

    // MARK: - Wishes

    /// Replaces the wishes. The caller passes each subject only once.
    ///
    /// If a host asked for a wait, the wait goes on when the subject is wanted again. An opened photo does not wait,
    /// whether it was wanted before or not.
    ///
    /// - Returns: the subjects that no wish names any more, with their last states, and the opened photos whose waits
    ///   have ended or become shorter.
    mutating func adopt(
        _ wanted: some Collection<Wish>, at now: Duration
    ) -> (dropped: [(subject: Wish.Subject, state: State)], opened: [Wish.Subject]) {
        adoption &+= 1
        if !kept.isEmpty { kept = kept.filter { $0.value.wait.earliest > now } }
        for wish in wanted { entries[wish.subject]?.adoption = adoption }
        let dropped = entries.filter { [adoption] in $0.value.adoption != adoption }.keys
            .map { (subject: $0, state: state(of: $0) ?? .settled) }
        // Remove the dropped subjects first, so that new subjects reuse their numbers.
        for (subject, _) in dropped {
            keepWait(of: subject, at: now)
            remove(subject)
        }
        entries.reserveCapacity(wanted.count)
        numbered.reserveCapacity(wanted.count)
        var opened: [Wish.Subject] = []
        for (rank, wish) in wanted.enumerated() {
            var entry = entries[wish.subject] ?? add(wish)
            let isOpened = entry.importance < .lookedAt && wish.importance == .lookedAt
            (entry.importance, entry.rank) = (wish.importance, rank)
            entries[wish.subject] = entry
            switch entry.phase {
            case .new: if !resumeWait(of: wish) { enqueue(wish.subject) }
            case .queued: enqueue(wish.subject)
            case .waiting where isOpened:
                hasten(wish.subject, at: now)
                opened.append(wish.subject)
            case .waiting, .running, .settled: break
            }
        }
        return (dropped, opened)
    }

    /// Keeps the time that a host asked for, if the time has not come yet.
    private mutating func keepWait(of subject: Wish.Subject, at now: Duration) {
        guard kept.count < Self.maximumKept, var wait = waits[subject], wait.until != nil, wait.earliest > now else {
            return
        }
        wait.until = wait.earliest
        kept[subject] = (wait, setbacks[subject] ?? Setback())
    }

    /// Makes a subject that is wanted again wait as before. Returns false if it need not wait.
    private mutating func resumeWait(of wish: Wish) -> Bool {
        guard !kept.isEmpty, let (wait, setback) = kept.removeValue(forKey: wish.subject) else { return false }
        // After a change of the photo, or a refresh by the user, the row shows no failure.
        guard wish.importance < .list, hasFailed(wish.subject) else { return false }
        setbacks[wish.subject] = setback
        set(.waiting(wait), wish.subject)
        return true
    }

    private mutating func add(_ wish: Wish) -> Entry {
        let number = freeNumbers.popLast() ?? numbered.count
        if number == numbered.count { numbered.append(wish.subject) } else { numbered[number] = wish.subject }
        return Entry(number: number, importance: wish.importance, adoption: adoption)
    }

    private mutating func remove(_ subject: Wish.Subject) {
        guard let entry = entries.removeValue(forKey: subject) else { return }
        (running[subject], waits[subject], setbacks[subject]) = (nil, nil, nil)
        queue.remove(entry.number)
        numbered[entry.number] = nil
        freeNumbers.append(entry.number)
        if entries.isEmpty { (entries, numbered, freeNumbers) = ([:], [], []) }
    }

    // MARK: - The queue

    /// Puts a subject into the queue if a wish names it.
    mutating func enqueue(_ subject: Wish.Subject) {
        set(.queued, subject)
        guard let entry = entries[subject] else { return }
        queue.put(
            entry.number, entry.importance, rank: entry.rank,
            as: candidate(Wish(subject, importance: entry.importance)))
    }

    /// Removes the first subject that `admit` accepts, and returns it.
    mutating func next(
        _ admit: (TransferCandidate) -> Admission
    ) -> (subject: Wish.Subject, candidate: TransferCandidate, way: Admission.Way)? {
        guard let (entry, way) = queue.popFirst(admit), let subject = numbered[entry.number] else { return nil }
        return (subject, entry.candidate, way)
    }

    /// Returns the first queued subjects, the most important first.
    func queued(_ limit: Int) -> [(subject: Wish.Subject, candidate: TransferCandidate)] {
        queue.first(limit).compactMap { entry in numbered[entry.number].map { ($0, entry.candidate) } }
    }

    /// Returns the other picture of the same photo, if it is queued. For a thumbnail, the other picture is the photo
    /// itself, and the reverse.
    func queuedSibling(of subject: Wish.Subject) -> Wish.Subject? {
        guard case .picture(let gallery, let key, let rendition) = subject else { return nil }
        let sibling = Wish.Subject.picture(gallery, key, rendition == .original ? .thumbnail : .original)
        return state(of: sibling) == .queued ? sibling : nil
    }

    // MARK: - States

    /// Records that a request for a subject runs. Removes the subject from the queue.
    mutating func setRunning(_ subject: Wish.Subject, _ identity: RequestIdentity) {
        if let number = entries[subject]?.number { queue.remove(number) }
        set(.running(identity), subject)
    }

    /// Records that a subject waits for another attempt.
    mutating func setWaiting(_ subject: Wish.Subject, _ wait: Wait) { set(.waiting(wait), subject) }

    /// Records that nothing is left to do for a subject. Clears the record of the subject's failures.
    mutating func setSettled(_ subject: Wish.Subject) {
        set(.settled, subject)
        setbacks[subject] = nil
    }

    private mutating func set(_ state: State, _ subject: Wish.Subject) {
        guard entries[subject] != nil else { return }
        (running[subject], waits[subject]) = (nil, nil)
        switch state {
        case .queued: entries[subject]?.phase = .queued
        case .running(let identity):
            entries[subject]?.phase = .running
            running[subject] = identity
        case .waiting(let wait):
            entries[subject]?.phase = .waiting
            waits[subject] = wait
            setbacks[subject, default: Setback()].failure = wait.failure
        case .settled: entries[subject]?.phase = .settled
        }
    }

    // MARK: - Failures

    /// Counts a failed attempt and returns the new count. For a subject that no wish names, returns 1.
    mutating func countFailure(_ subject: Wish.Subject) -> Int {
        guard isWanted(subject) else { return 1 }
        setbacks[subject, default: Setback()].attempts += 1
        return setbacks[subject]?.attempts ?? 1
    }

    /// Makes a subject wait after a failure before its request began. Returns false if a retry is pointless, or if too
    /// many attempts have failed.
    mutating func postpone(
        _ subject: Wish.Subject, _ failure: Failure, _ schedule: RetrySchedule, at now: Duration
    ) -> Bool {
        let attempts = countFailure(subject)
        guard failure.isTemporary, let delay = schedule.delay(afterAttempts: attempts, retryAfter: nil) else {
            return false
        }
        let (until, host) = (now + delay, "")
        setWaiting(
            subject,
            Wait(since: now, until: until, earliest: now, host: host, failure: failure, attempts: attempts))
        return true
    }

    /// Returns the last failure of a subject and the number of failed attempts. Returns nil if no attempt failed.
    func setback(of subject: Wish.Subject) -> (failure: Failure, attempts: Int)? {
        guard let setback = setbacks[subject], let failure = setback.failure else { return nil }
        return (failure, max(setback.attempts, 1))
    }

    /// Restarts a subject's count of failed attempts. If the subject waits, ends or shortens the wait.
    ///
    /// The call also forgets a kept wait of the subject.
    /// A key that the user holds down repeats 30 times a second. So at least a second lies between two attempts.
    ///
    /// - Returns: the host for which the subject waited. Returns nil if the subject did not wait.
    @discardableResult
    mutating func hasten(_ subject: Wish.Subject, at now: Duration) -> String? {
        kept[subject] = nil
        if let setback = setbacks[subject] { setbacks[subject] = Setback(failure: setback.failure) }
        guard case .waiting(var wait) = state(of: subject) else { return nil }
        let soon = wait.since + .seconds(1)
        if now >= soon {
            enqueue(subject)
            return wait.host
        }
        guard wait.until.map({ $0 > soon }) ?? true else { return wait.host }
        (wait.until, wait.earliest) = (soon, soon)
        setWaiting(subject, wait)
        return wait.host
    }

    /// Queues a requested subject, unless it is queued or running already. The subject may be settled, because an
    /// earlier wish for it was fulfilled.
    mutating func begin(_ subject: Wish.Subject) {
        switch state(of: subject) {
        case .settled, .waiting: retry(subject)
        case .queued, .running, nil: break
        }
    }

    /// Clears a subject's failures and queues the subject.
    mutating func retry(_ subject: Wish.Subject) {
        setbacks[subject] = nil
        enqueue(subject)
    }

    // MARK: - Waiting

    /// The subjects that wait for another attempt, with their waits.
    var waiting: [(subject: Wish.Subject, wait: Wait)] { waits.map { ($0, $1) } }

    /// Forgets the kept waits, because the user ends all waits.
    ///
    /// - Returns: the subjects that wait now.
    mutating func forgetKeptWaits() -> [Wish.Subject] {
        kept = [:]
        return Array(waits.keys)
    }

    /// Whether a subject waits for a retry.
    func isWaiting(_ subject: Wish.Subject) -> Bool { if case .waiting = state(of: subject) { true } else { false } }

    /// Whether a subject is still in the same wait. The wait may have become shorter.
    func isWaiting(_ subject: Wish.Subject, since wait: Wait) -> Bool {
        guard let now = waits[subject] else { return false }
        return (now.since, now.attempts) == (wait.since, wait.attempts)
    }

    /// The time when the first wait ends; nil if no wait ends by itself.
    var firstDue: Duration? { waits.values.lazy.compactMap(\.until).min() }

    /// Queues all subjects whose waits have ended, and returns them.
    mutating func enqueueDue(at now: Duration) -> [Wish.Subject] {
        let due = waits.filter { $0.value.until.map { $0 <= now } ?? false }.map(\.key)
        for subject in due { enqueue(subject) }
        return due
    }

    /// Shortens the waits for a host that has just answered another request. Local files have no host to wait for.
    ///
    /// Most of these waits then end within a second, at random times. But a subject may fail forever although its host
    /// answers. So its wait lasts at least a second, and each further shortened wait lasts at least twice as long.
    ///
    /// - Parameter chance: returns a random part of a second.
    /// - Returns: the subjects whose waits are shorter now.
    mutating func wake(_ host: String, at now: Duration, chance: () -> Double) -> [Wish.Subject] {
        var woken: [Wish.Subject] = []
        guard !host.isEmpty else { return woken }
        for (subject, wait) in waits where wait.host == host && !wait.isShortened {
            let shortened = setbacks[subject]?.shortened ?? 0
            let quiet = Duration.seconds(1 << min(shortened, Self.maximumDoublings))
            let time = max(max(now, wait.since + quiet) + .seconds(clamped: chance()), wait.earliest)
            guard let until = wait.until, time < until else { continue }
            var wait = wait
            (wait.until, wait.isShortened) = (time, true)
            setbacks[subject, default: Setback()].shortened += 1
            set(.waiting(wait), subject)
            woken.append(subject)
        }
        return woken
    }

    /// The number of doublings after which a second exceeds every wait.
    private static let maximumDoublings = 15

    /// Shortens all waits, but not below the time that the host asked for.
    ///
    /// - Parameter time: returns the new end of a wait. The table calls it once for each subject.
    /// - Returns: the subjects whose waits are shorter now.
    mutating func wakeAll(at time: () -> Duration) -> [Wish.Subject] {
        var woken: [Wish.Subject] = []
        for (subject, wait) in waits {
            let time = max(time(), wait.earliest)
            guard let until = wait.until, time < until else { continue }
            var wait = wait
            wait.until = time
            set(.waiting(wait), subject)
            woken.append(subject)
        }
        return woken
    }
}

/// The failed requests that wait for a retry. They show the wait to the user.
struct PostponedRequests {
    private var requests: [Wish.Subject: any NetworkRequest] = [:]
    /// Whether each subject's row changed while the cache records its failure.
    private var beingRecorded: [Wish.Subject: Bool] = [:]

    /// The failed request of a subject that waits for a retry.
    subscript(subject: Wish.Subject) -> (any NetworkRequest)? { requests[subject] }

    mutating func add(_ request: any NetworkRequest, for subject: Wish.Subject) { requests[subject] = request }

    /// Removes a subject's request and returns it.
    @discardableResult
    mutating func remove(_ subject: Wish.Subject) -> (any NetworkRequest)? { requests.removeValue(forKey: subject) }

    /// Whether the cache is still recording a subject's failure.
    func isBeingRecorded(_ subject: Wish.Subject) -> Bool { beingRecorded[subject] != nil }

    mutating func beginRecording(_ subject: Wish.Subject) { beingRecorded[subject] = false }

    /// Records that a subject's row changed while the cache records its failure.
    mutating func rowChanged(_ subject: Wish.Subject) { beingRecorded[subject] = true }

    /// Ends the recording of a failure. Returns whether the subject's row changed meanwhile.
    mutating func endRecording(_ subject: Wish.Subject) -> Bool { beingRecorded.removeValue(forKey: subject) == true }
}

/// The hosts that no request reaches. A command gives up such a host after half a minute.
///
/// Further requests to a host that was given up fail at once. Otherwise each picture of a command would wait for the
/// host as long as the first one. A server that restarts answers again within that time. A host that sends anything,
/// even an error, is not given up.
struct LostHosts {
    private struct Outage {
        var start: Duration
        /// The time of the last attempt.
        var latest: Duration
        var error: RequestError
        var isLost = false
    }

    /// The hosts that no request has reached since the start of the outage.
    private var outages: [String: Outage] = [:]
    /// The hosts that have sent something.
    private var reached: Set<String> = []
    private let givesUp: Bool

    private static let patience = Duration.seconds(30)
    /// The longest time between two attempts. If more time passes, the machine was asleep.
    private static let longestPause = Duration.seconds(90)
    /// The maximum number of hosts to remember. A list may name very many hosts.
    private static let mostHosts = 4_096

    /// - Parameter givesUp: whether to give up hosts.
    init(givesUp: Bool = true) {
        self.givesUp = givesUp
    }

    /// Records a failed request. Returns whether the failure shows the end of an outage.
    ///
    /// - Parameter isAnswered: whether the host answered, for example with a redirect to an unreachable host.
    @discardableResult
    mutating func recordFailure(
        _ error: RequestError, of host: String, isAnswered: Bool, at now: Duration
    ) -> Bool {
        // Without a network, an answer says nothing about what happened later.
        guard error.ending == .unreachable, !isAnswered || error == .noNetwork, !host.isEmpty else {
            return recordSign(of: host)
        }
        if outages.count >= Self.mostHosts { forgetOutages() }
        var outage = outages[host] ?? Outage(start: now, latest: now, error: error)
        // After its sleep, a machine has no network for a few seconds.
        if now - outage.latest > Self.longestPause { outage.start = now }
        (outage.latest, outage.error) = (now, error)
        outage.isLost = outage.isLost || givesUp && now - outage.start >= Self.patience
        outages[host] = outage
        return false
    }

    /// Records that the host has sent something. Returns whether this ends an outage.
    @discardableResult
    mutating func recordSign(of host: String) -> Bool {
        if reached.count >= Self.mostHosts { reached = [] }
        reached.insert(host)
        return outages.removeValue(forKey: host) != nil
    }

    /// Forgets all outages, because the machine has joined another network.
    mutating func forgetOutages() { outages = [:] }

    func contains(_ host: String) -> Bool { outages[host]?.isLost == true }

    /// Whether a command waits for the host to come back.
    ///
    /// A command does not wait for a host that has never answered, because the address may be wrong.
    func isAwaited(_ host: String) -> Bool {
        givesUp && reached.contains(host) && outages[host].map { !$0.isLost } ?? false
    }

    /// The error of a request to a lost host; nil for all other hosts.
    func error(of request: any NetworkRequest) -> RequestError? {
        guard !outages.isEmpty, let outage = outages[request.candidate(.rest).host] else { return nil }
        return outage.isLost ? outage.error : nil
    }
}
