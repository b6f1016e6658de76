import Cache
import HTTP
import Logging
import Model
import Streams

/// Fulfils wishes: watches what is wished for, fetches the most important first, and puts it into the cache.
///
/// Made once, where the program is put together, and known to nobody but the one who made it. Screens do not have it and
/// get nothing from it; they state wishes and watch the cache.
///
///     let controller = NetworkController(wishes: wishes, context: context, client: HTTPClient(log: log))
///     let running = Task { await controller.run() }
///
/// It is a wrapper around small requests, which it knows by their protocol alone. Wishes for the same thing join one
/// request, which is as important as the most important of them; when the last is withdrawn it is cancelled.
///
/// Three kinds of work are kept apart. This actor manages: it starts, counts and waits, and never blocks. Transfers run on
/// the client's thread, as many as the governor lets. What a processor has to do is done on queues of its own.
public actor NetworkController {
    /// A request under way, and everyone it serves.
    private struct Operation {
        let request: any NetworkRequest
        let task: Task<Void, Never>
        var served: Set<Wish.Subject>
    }

    let wishes: Wishes
    let context: RequestContext
    private let client: HTTPClient
    private let schedule: RetrySchedule
    private let clock: any NetworkClock
    private let kinds: [any NetworkRequest.Type]
    private var governor: any Governor
    var agenda = Agenda()
    private var operations: [RequestIdentity: Operation] = [:]
    /// Requests whose attempt failed and that will be tried again: to be told if nobody wants them any more.
    private var putOff: [Wish.Subject: any NetworkRequest] = [:]
    var sweeps: [Wish.Subject: Sweep] = [:]
    /// What screens and commands wish for, sweeps left out.
    var stated: [Wish] = []
    /// The number of each asking that has been taken in.
    private var asked: [Wish.Subject: Int] = [:]
    /// What could not be stored, for the disk's sake, since something last could.
    private var unstored = 0
    /// So many in a row are no accident.
    private static let maximumUnstored = 8
    var listeners: [GalleryID: Task<Void, Never>] = [:]
    private var alarm: (time: Duration, task: Task<Void, Never>)?
    private let executor = QueueExecutor(label: "vitrine.network")

    /// A queue of its own: it looks into the cache, which reads the disk.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// Makes a controller. Nothing happens before ``run()``.
    public init(
        wishes: Wishes, context: RequestContext, client: HTTPClient, governor: any Governor = FixedGovernor(),
        schedule: RetrySchedule = RetrySchedule(), clock: any NetworkClock = MachineClock(),
        kinds: [any NetworkRequest.Type] = [GalleryListRequest.self, ThumbnailRequest.self, PhotoRequest.self]
    ) {
        self.wishes = wishes
        self.context = context
        self.client = client
        self.governor = governor
        self.schedule = schedule
        self.clock = clock
        self.kinds = kinds
    }

    /// Works until the task is cancelled. Then everything under way is cancelled too.
    public func run() async {
        for await snapshot in wishes.snapshots() { take(snapshot) }
        end()
    }

    /// Lets go of everything. What is under way finds, when it ends, that it serves nobody and that nothing is next.
    private func end() {
        (stated, asked) = ([], [:])
        adoptWishes()
        for listener in listeners.values { listener.cancel() }
        alarm?.task.cancel()
    }

    // MARK: - Wishes

    /// Takes in what is wished for now.
    func take(_ snapshot: Wishes.Snapshot) {
        let anew = snapshot.asked.filter { asked[$0.key] != $0.value }.keys
        for subject in anew { sweeps[subject] = nil }
        (stated, asked) = (snapshot.wishes, snapshot.asked)
        adoptWishes()
        for subject in anew { beginAnew(subject) }
        for subject in snapshot.renewed { renew(subject) }
        startWhatMayStart()
    }

    func adoptWishes() {
        let wanted = stated.filter { Sweep($0) == nil }
        var standing: [Wish.Subject: Sweep] = [:]
        for sweep in stated.compactMap(Sweep.init) { standing[sweep.subject] = sweeps[sweep.subject] ?? sweep }
        sweeps = standing
        for gallery in Set(stated.map(\.subject.gallery)) { listen(to: gallery) }
        let named = Set(wanted.map(\.subject))
        let swept = sweeps.values.flatMap(\.wishes).filter { !named.contains($0.subject) }
        for (subject, state) in agenda.adopt(wanted + swept) { drop(subject, state) }
    }

    /// Lets go of what nobody wants any more.
    private func drop(_ subject: Wish.Subject, _ state: Agenda.State) {
        switch state {
        case .running(let identity): leave(identity, subject)
        case .waiting: putOff.removeValue(forKey: subject)?.noteCancelled()
        case .queued, .settled: break
        }
    }

    func leave(_ identity: RequestIdentity, _ subject: Wish.Subject) {
        operations[identity]?.served.remove(subject)
        if operations[identity]?.served.isEmpty == true { operations[identity]?.task.cancel() }
    }

    /// What was asked for, fulfilled and asked for again between two snapshots has never been seen to go. It is settled
    /// here, and wanted nevertheless.
    private func beginAnew(_ subject: Wish.Subject) {
        switch agenda.state(of: subject) {
        case .settled, .waiting:
            agenda.forgiveFailures(subject)
            agenda.enqueue(subject)
        case .queued, .running, nil: break
        }
    }

    /// Asked for again while it was put off: it need not wait any longer. But a key that is held down asks thirty times a
    /// second, and an attempt that has only just failed would fail again: so there is a second between two of them.
    private func renew(_ subject: Wish.Subject) {
        guard case .waiting(let since, let until) = agenda.state(of: subject) else { return }
        let soon = since + .seconds(1)
        if clock.now >= soon {
            agenda.enqueue(subject)
        } else if until > soon {
            agenda.note(.waiting(since: since, until: soon), subject)
        }
    }

    // MARK: - Work

    func startWhatMayStart() {
        refillSweeps()
        while let subject = agenda.next({ governor.admits($0, running: operations.count) }) {
            do {
                try start(subject)
            } catch {
                // The cache cannot be read. There is nothing to fetch for; the next change asks again.
                context.log.error(.cache, "\(error)")
                settle(subject)
            }
        }
        setAlarm()
    }

    private func start(_ subject: Wish.Subject) throws {
        guard let request = try request(for: subject) else { return settle(subject) }
        let identity = request.identity
        agenda.noteRunning(subject, identity)
        guard operations[identity] == nil else {
            operations[identity]?.served.insert(subject)
            return
        }
        request.noteBegun()
        let task = Task { [client] in
            do {
                try await request.perform(over: client)
                await finish(identity, nil)
            } catch {
                await finish(identity, error)
            }
        }
        operations[identity] = Operation(request: request, task: task, served: [subject])
    }

    func request(for subject: Wish.Subject) throws -> (any NetworkRequest)? {
        for kind in kinds {
            if let request = try kind.make(for: subject, in: context) { return request }
        }
        return nil
    }

    private func finish(_ identity: RequestIdentity, _ error: (any Error)?) async {
        guard let operation = operations.removeValue(forKey: identity) else { return }
        switch error {
        case nil:
            unstored = 0
            operation.request.noteDone()
            operation.served.forEach(settle)
        case let error? where error is CancellationError || operation.served.isEmpty:
            // It may have failed just as it was let go: nobody asks why.
            operation.request.noteCancelled()
            // Wanted again meanwhile, or in another edition.
            operation.served.forEach { agenda.enqueue($0) }
        case let error?:
            await fail(operation, NetworkPresence.refine(RequestError(error)))
        }
        startWhatMayStart()
    }

    private func fail(_ operation: Operation, _ error: RequestError) async {
        let failure = error.failure
        let attempts = operation.served.map { agenda.countFailure($0) }.max() ?? 1
        if let trouble = error.storageTrouble {
            context.activity.note(trouble)
            unstored += 1
            if attempts > 1 || unstored > Self.maximumUnstored {
                endSweeps(of: operation.request.identity.subject.gallery)
            }
        }
        guard failure.isTemporary,
            let delay = schedule.delay(afterAttempts: attempts, retryAfter: error.retryAfter)
        else {
            await operation.request.noteFailed(failure)
            return giveUp(operation)
        }
        let wait = Agenda.State.waiting(since: clock.now, until: clock.now + delay)
        // First here and then in the cache: the row's change must find it waiting.
        for subject in operation.served {
            agenda.note(wait, subject)
            if agenda.isWanted(subject) { putOff[subject] = operation.request }
        }
        await operation.request.notePutOff(failure)
        // While that was written it may have been stopped, or have been due. Then something else is to be seen of it.
        if operation.served.contains(where: { agenda.state(of: $0) == wait }) { operation.request.noteWaiting(failure) }
    }

    /// It has failed for good, and that is written down. Meanwhile it may have been let go, or begun anew.
    private func giveUp(_ operation: Operation) {
        let identity = operation.request.identity
        let successor = operations[identity]
        if successor == nil { operation.request.noteDone() }
        for subject in operation.served
        where agenda.state(of: subject) == .running(identity) && successor?.served.contains(subject) != true {
            settle(subject)
        }
    }

    /// Nothing is left to do for it. What was asked for once has thereby come true, or never will.
    private func settle(_ subject: Wish.Subject) {
        putOff[subject] = nil
        agenda.noteSettled(subject)
        wishes.fulfil(subject)
        guard let cache = context.caches.cache(subject.gallery) else { return }
        for sweep in sweeps.keys { try? sweeps[sweep]?.noteSettled(subject, cache) }
    }

    // MARK: - Waiting

    /// One alarm for everything that waits, set to the first of it.
    private func setAlarm() {
        let due = agenda.firstDue
        guard due != alarm?.time else { return }
        alarm?.task.cancel()
        alarm = due.map { time in
            (
                time,
                Task { [clock] in
                    guard (try? await clock.sleep(until: time)) != nil else { return }
                    self.ring()
                }
            )
        }
    }

    private func ring() {
        alarm = nil
        agenda.enqueueDue(at: clock.now)
        startWhatMayStart()
    }
}
