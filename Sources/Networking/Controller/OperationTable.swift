import Concurrency
import HTTP
import Model
import Numbers
import Scheduling

/// The running requests, and the governor that decides about their transfers.
///
/// The table reports each transfer to the governor and carries out the governor's decisions. The controller decides
/// what a request's end means for wishes and for the cache.
struct OperationTable {
    /// A function that sends a request under an attempt's number. The function returns the task of the transfer.
    typealias Send = (_ request: any NetworkRequest, _ number: Int, _ permit: TransferPermit) -> Task<Void, Never>

    private let clock: any NetworkClock
    private let schedule: RetrySchedule
    /// Whether only files of this machine may be read.
    private let isOffline: Bool
    /// The stream that delivers a signal whenever a transfer's meter changes.
    private let meterEvents: CoalescingStream<Signal>
    private var governor: any Governor
    private var operations: [RequestIdentity: Operation] = [:]
    /// The requests of attempts that the governor counts as running, by number.
    private var identities: [Int: RequestIdentity] = [:]
    private(set) var lastNumber = 0
    /// The number of bytes of operations that have ended.
    private var endedBytes: ByteCount = 0

    init(
        _ governor: any Governor, _ schedule: RetrySchedule, _ clock: any NetworkClock,
        _ meterEvents: CoalescingStream<Signal>, isOffline: Bool
    ) {
        self.governor = governor
        self.schedule = schedule
        self.clock = clock
        self.meterEvents = meterEvents
        self.isOffline = isOffline
    }

    subscript(identity: RequestIdentity) -> Operation? { operations[identity] }

    var all: some Collection<Operation> { operations.values }
    var identifiers: [RequestIdentity] { Array(operations.keys) }
    var isEmpty: Bool { operations.isEmpty }
    /// The subjects of all wishes that running requests for photos serve.
    var servedByPhotos: [Wish.Subject] {
        operations.values.filter { $0.request.kind == .photo }.flatMap(\.served)
    }
    /// The number of running transfers.
    var transferCount: Int { identities.count }
    /// The number of complete answers that the cache has not stored yet.
    var unstoredCount: Int { operations.values.count(where: \.isTransferred) }
    /// The number of bytes received so far by all operations.
    var received: ByteCount { operations.values.reduce(endedBytes) { $0 + $1.received } }

    /// Uses another governor from now on. The new one ignores running transfers, whose earlier bytes would mislead it.
    mutating func use(_ governor: any Governor) { self.governor = governor }

    // MARK: - Starting

    /// Returns whether a transfer may start now, and over which connection.
    mutating func admit(_ candidate: TransferCandidate) -> Admission {
        isOffline && !candidate.isLocal ? .hostIsBusy : governor.admit(candidate, at: clock.now.seconds)
    }

    /// Starts a request for a subject.
    mutating func start(
        _ request: any NetworkRequest, _ importance: Importance, for subject: Wish.Subject, over way: Admission.Way,
        _ send: Send
    ) {
        let candidate = request.candidate(importance)
        let start = clock.now
        operations[request.identity] = Operation(
            request, candidate, attempt(request, candidate, over: way, send), start: start, serving: subject)
    }

    private mutating func attempt(
        _ request: any NetworkRequest, _ candidate: TransferCandidate, over way: Admission.Way, _ send: Send
    ) -> Attempt {
        lastNumber += 1
        let number = lastNumber
        governor.recordStart(of: number, candidate, over: way, at: clock.now.seconds)
        let permit = TransferPermit(candidate.importance, over: way, in: governor.pieces(of: number)) {
            [meterEvents] in meterEvents.send(Signal())
        }
        identities[number] = request.identity
        return Attempt(number, permit, send(request, number, permit))
    }

    /// Sends hanging requests a second time. The attempt that finishes first counts.
    mutating func repeatHanging(_ send: Send) {
        for (number, way) in governor.takeHanging(at: clock.now.seconds).sorted(by: { $0.key < $1.key }) {
            // A cancelled operation may not have ended yet, but no wish waits for it. So it is not sent again.
            guard let operation = identities[number].flatMap({ operations[$0] }), !operation.served.isEmpty,
                operation.attempt(number)?.task.isCancelled == false
            else { continue }
            var candidate = operation.candidate
            (candidate.importance, candidate.isAgain) = (operation.importance, true)
            operation.add(attempt(operation.request, candidate, over: way, send))
        }
    }

    // MARK: - Running

    /// Reads all meters and reports their changes to the governor.
    ///
    /// - Returns: the hosts whose answers have begun since the last call.
    mutating func readMeters() -> Set<String> {
        var hosts: Set<String> = []
        for operation in operations.values where readMeters(of: operation) { hosts.insert(operation.candidate.host) }
        return hosts
    }

    /// Reads the meters of an operation and reports their changes to the governor.
    ///
    /// Meters do not store when something happened, so each event gets the present time.
    ///
    /// - Returns: whether an answer has begun since the last call.
    @discardableResult
    private mutating func readMeters(of operation: Operation) -> Bool {
        var isAnswered = false
        for attempt in operation.attempts {
            if let refusal = attempt.permit.takeRefusal() { recordComplaint(refusal, of: operation) }
            let events = attempt.takeEvents()
            guard !events.isEmpty else { continue }
            let now = clock.now.seconds
            for event in events {
                governor.record(event, of: attempt.number, at: now)
                if case .ended = event { identities[attempt.number] = nil }
                if case .answered = event { isAnswered = true }
            }
        }
        return isAnswered
    }

    /// Cancels the transfers that the governor wants to interrupt. When the transfers end, the controller queues their
    /// subjects again.
    ///
    /// - Parameter waiting: returns, for a host, the number of queued transfers that may start.
    mutating func interrupt(waiting: (String) -> Int) {
        for number in governor.advance(to: clock.now.seconds, waiting: waiting) {
            if let identity = identities[number] { operations[identity]?.attempt(number)?.task.cancel() }
        }
    }

    /// Passes the governor's current piece sizes on to transfers in pieces.
    func updatePieces() {
        for attempt in operations.values.lazy.flatMap(\.attempts) where attempt.permit.isInPieces {
            attempt.permit.setPieces(governor.pieces(of: attempt.number))
        }
    }

    /// Sets the importance of a running request.
    mutating func setImportance(_ importance: Importance, of identity: RequestIdentity) {
        guard let operation = operations[identity], importance != operation.importance else { return }
        operation.importance = importance
        for attempt in operation.attempts {
            attempt.permit.setImportance(importance)
            governor.record(.importance(importance), of: attempt.number, at: clock.now.seconds)
        }
    }

    /// Stops serving a subject. Cancels the request if it serves no other subject.
    func leave(_ identity: RequestIdentity, _ subject: Wish.Subject) {
        operations[identity]?.leave(subject)
        if operations[identity]?.served.isEmpty == true { operations[identity]?.cancel() }
    }

    // MARK: - Ending

    /// Removes an operation when one of its attempts has ended.
    ///
    /// - Returns: the operation; nil if the attempt was dropped, or failed while another still runs.
    mutating func finish(
        _ identity: RequestIdentity, _ number: Int, isSuccess: Bool, _ failure: RequestError?
    ) -> Operation? {
        if let operation = operations[identity] { readMeters(of: operation) }
        guard let operation = operations[identity], let attempt = operation.attempt(number) else { return nil }
        guard isSuccess || operation.attempts.count == 1 else {
            drop(attempt, of: operation, failure)
            return nil
        }
        for rival in operation.attempts where rival !== attempt { drop(rival, of: operation, nil) }
        operations[identity] = nil
        endedBytes += operation.received
        for attempt in operation.attempts { reportEnd(of: attempt, of: operation, failure) }
        return operation
    }

    private mutating func drop(_ attempt: Attempt, of operation: Operation, _ error: RequestError?) {
        operation.drop(attempt)
        reportEnd(of: attempt, of: operation, error)
    }

    /// Reports an attempt's end to the governor, unless the meter has shown it already. Also reports errors that show
    /// an overloaded host.
    private mutating func reportEnd(of attempt: Attempt, of operation: Operation, _ error: RequestError?) {
        if identities.removeValue(forKey: attempt.number) != nil {
            governor.record(.ended(error?.ending ?? .cancelled), of: attempt.number, at: clock.now.seconds)
        }
        if let error { recordComplaint(error, of: operation) }
    }

    /// Tells the governor if an error shows an overloaded host.
    private mutating func recordComplaint(_ error: RequestError, of operation: Operation) {
        guard error.isComplaint else { return }
        let silence = schedule.silence(retryAfter: error.silence)
        governor.recordComplaint(of: operation.candidate.host, silence: Double(silence), at: clock.now.seconds)
    }

    // MARK: - The governor's view

    /// The governor's measurements and decisions.
    var report: GovernorReport { governor.report }
    /// The governor's measurements of hosts, for the next run.
    var history: HostHistory { governor.history }

    /// Tells the governor that the machine has joined a network.
    mutating func networkChanged() { governor.recordNetworkChange(at: clock.now.seconds) }

    /// Allows requests again to a host that answered 429 (Too Many Requests).
    mutating func endSilence(of host: String) { governor.endSilence(of: host) }

    /// Returns the time of the next check of the transfers, if no meter changes before. Returns nil if no check is
    /// needed.
    func nextLook(isQueueEmpty: Bool, isPaused: Bool, waiting: (String) -> Int) -> Duration? {
        guard !identities.isEmpty || !isQueueEmpty else { return nil }
        let now = clock.now.seconds
        guard let pace = governor.timeUntilAdvance(at: now, waiting: waiting) else { return nil }
        guard isQueueEmpty else { return clock.now + .seconds(clamped: pace) }
        // With an empty queue, only hanging transfers and the next report need a check.
        let patience = isPaused ? nil : governor.timeUntilHanging(at: now)
        return clock.now
            + .seconds(clamped: min(max(pace, TrafficReporter.interval), patience ?? .infinity))
    }
}
