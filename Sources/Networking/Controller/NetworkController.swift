import Cache
import Concurrency
import HTTP
import Logging
import Model
import Numbers
import Scheduling
import Session

/// Fetches and stores the lists and pictures that wishes name. The most important come first.
///
/// The composition root creates one controller. Screens state wishes, watch the cache, and never see the controller.
///
///     let controller = NetworkController(wishes: wishes, context: context, client: HTTPClient(log: log))
///     let running = Task { await controller.run() }
///
/// The controller knows requests only by their protocol. Wishes for the same subject share one request, which is as
/// important as the most important of these wishes. When none of them is left, the controller cancels the request.
///
/// This actor starts requests and waits for them. The client's threads run the transfers, as many as the governor
/// allows. Separate queues run the parsing and comparing.
public actor NetworkController {
    private let wishes: Wishes
    private let context: RequestContext
    private let client: HTTPClient
    private let schedule: RetrySchedule
    private let clock: any NetworkClock
    private let factory: RequestFactory
    private let network: CoalescingStream<NetworkPresence>
    private let onHistory: @Sendable (HostHistory) -> Void
    private var savedHistory: HostHistory
    /// Whether the machine is on a network. Tests wait until this changes.
    private(set) var attachment = NetworkAttachment()
    private var disturbance: Disturbance

    /// The wishes of screens and commands, bulk fetches included.
    private var stated: [Wish] = []
    /// For each subject that the user requested, the number of the last request.
    private var asked: [Wish.Subject: Int] = [:]
    private var declined: Set<Wish.Subject> = []
    private var isPaused = false
    private var bulkFetches = BulkFetches()
    /// The states of all subjects that wishes name. Tests read the waits and the queue.
    private(set) var table: RequestTable
    /// The running requests. Tests wait until no request runs.
    private(set) var operations: OperationTable
    private var lost: LostHosts
    private var postponed = PostponedRequests()
    private var reporter: TrafficReporter
    /// The stream that delivers a signal whenever a transfer's meter changes.
    private let meterEvents: CoalescingStream<Signal>
    private var listeners: [GalleryID: Task<Void, Never>] = [:]
    /// The alarm for the end of the first wait for a retry.
    private var alarm = ClockAlarm()
    /// The alarm for the next check of the transfers, if no meter changes before.
    private var tick = ClockAlarm()
    private let executor = QueueExecutor(label: "vitrine.network")

    /// A serial queue of this actor's own, because reading the cache may block.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// Creates a controller, which does nothing before ``run()``.
    ///
    /// - Parameters:
    ///   - network: reports changes of the machine's networks.
    ///   - disturbance: delays transfers or makes them fail, for tests.
    ///   - onHistory: stores the measurements of hosts for the next run. Called when no transfer is left.
    public init(
        wishes: Wishes, context: RequestContext, client: HTTPClient, governor: any Governor = AdaptiveGovernor(),
        schedule: RetrySchedule = RetrySchedule(), clock: any NetworkClock = MachineClock(),
        network: CoalescingStream<NetworkPresence> = CoalescingStream(), disturbance: Disturbance = Disturbance(),
        onHistory: @escaping @Sendable (HostHistory) -> Void = { _ in },
        kinds: [any NetworkRequest.Type] = [
            FolderListRequest.self, GalleryListRequest.self, ThumbnailRequest.self, LocalPhotoRequest.self,
            EmbeddedThumbnailRequest.self, PhotoRequest.self, AlbumListRequest.self,
        ]
    ) {
        (self.wishes, self.context, self.client, self.schedule) = (wishes, context, client, schedule)
        (self.clock, self.network, self.disturbance, self.onHistory) = (clock, network, disturbance, onHistory)
        (factory, savedHistory, meterEvents) = (RequestFactory(kinds, context), governor.history, CoalescingStream())
        operations = OperationTable(governor, schedule, clock, meterEvents, isOffline: context.isOffline)
        (reporter, lost) = (TrafficReporter(context, clock), LostHosts(givesUp: schedule.maximumAttempts != nil))
        table = RequestTable(candidate: factory.candidate, hasFailed: factory.hasFailed)
    }

    /// Fulfils wishes until the task is cancelled. Then ends all requests, to free their files for another controller.
    public func run() async {
        _ = attachment.change(to: .current, at: clock.now)
        let listening = [
            Task { for await _ in meterEvents { look() } },
            Task { [network] in for await presence in network { networkChanged(presence) } },
            Task { [context] in
                for await interest in context.activity.trafficInterest() where interest.isWatched { reportAtOnce() }
            },
        ]
        for await snapshot in wishes.snapshots() { take(snapshot) }
        let running = operations.all.flatMap(\.attempts).map(\.task)
        (stated, asked) = ([], [:])
        adoptWishes()
        for task in listening + listeners.values { task.cancel() }
        alarm.cancel()
        tick.cancel()
        for task in running { await task.value }
    }

    /// Uses another governor, and other simulated delays and failures, from now on. Running transfers continue.
    public func use(_ governor: (any Governor)?, _ disturbance: Disturbance) {
        self.disturbance = disturbance
        if let governor { operations.use(governor) }
        look()
    }

    // MARK: - Wishes

    /// Replaces the current wishes by those of a snapshot.
    func take(_ snapshot: Wishes.Snapshot) {
        let askedAgain = snapshot.asked.filter { asked[$0.key] != $0.value }.keys
        for subject in askedAgain { bulkFetches.remove(subject) }
        for subject in snapshot.retried { bulkFetches.retry(subject) }
        (stated, asked, declined) = (snapshot.wishes, snapshot.asked, snapshot.declined)
        adoptWishes()
        for subject in askedAgain { table.begin(subject) }
        let retried = snapshot.retried.union(snapshot.areAllRetried ? table.forgetKeptWaits() : [])
        for subject in retried { retry(subject) }
        if snapshot.areAllRetried { bulkFetches.endPauses() }
        isPaused = snapshot.isPaused
        // A pause interrupts the requests for pictures that no screen shows.
        if isPaused { for operation in operations.all where operation.importance < .visible { operation.cancel() } }
        look()
        showHeldBack(retried)
    }

    private func adoptWishes() {
        bulkFetches.adopt(stated, declined: declined)
        for gallery in Set(stated.lazy.map(\.subject.gallery)) { listen(to: gallery) }
        let (dropped, opened) = table.adopt(wantedPictures(), at: clock.now)
        opened.forEach(showWait)
        // A thumbnail's wish joins the transfer of its photo first. Otherwise the loop below could cancel the transfer.
        for sibling in operations.servedByPhotos.compactMap({ table.queuedSibling(of: $0) }) {
            if let request = try? factory.request(for: sibling) { _ = join(sibling, request) }
        }
        for (subject, state) in dropped { drop(subject, state) }
        for identity in operations.identifiers { updateImportance(of: identity) }
    }

    /// Returns the stated wishes. Replaces each bulk fetch by wishes for its current pictures.
    private func wantedPictures() -> [Wish] {
        // Without a bulk fetch the list is not copied. It may hold 100,000 wishes.
        guard !bulkFetches.isEmpty else { return stated }
        let wanted = stated.filter { BulkFetch($0) == nil }
        let named = Set(wanted.map(\.subject))
        bulkFetches.takeOver(operations.all.flatMap(\.served), except: named)
        return wanted + bulkFetches.wishes(except: named)
    }

    /// Cancels the work for a subject that no wish names any more.
    private func drop(_ subject: Wish.Subject, _ state: RequestTable.State) {
        switch state {
        case .running(let identity): operations.leave(identity, subject)
        // A due subject stays queued while its host is unreachable, and still shows that it waits.
        case .waiting, .queued: postponed.remove(subject)?.showCancelled()
        case .settled: break
        }
        context.activity.setRetry(of: subject, at: nil)
    }

    /// Ends the wish for a subject after success or a permanent failure.
    private func settle(_ subject: Wish.Subject, after done: RequestIdentity? = nil) {
        postponed.remove(subject)
        table.setSettled(subject)
        wishes.fulfil(subject)
        if let cache = context.caches.cache(subject.gallery) { bulkFetches.settle(subject, after: done, cache) }
    }

    // MARK: - Bulk fetches

    /// Starts more pictures for bulk fetches, and ends fetches that have nothing left to do.
    ///
    /// A bulk fetch starts before its gallery's list arrives, but ends after it, because the list may name more photos.
    private func refillBulkFetches() {
        // With full caches, each picture fetched for later would replace another one.
        if context.caches.space.isShort, !bulkFetches.isEmpty {
            context.log.info(.network, "cache-limit reached: Vitrine fetches only pictures that a screen shows")
            return bulkFetches.galleries.forEach(endBulkFetches)
        }
        let refill = bulkFetches.refill(context.caches, schedule, at: clock.now) { [table] in table.isWaiting($0) }
        for (error, isFinal) in refill.failures { reporter.recordUnreadable(error, isFinal: isFinal) }
        for fetch in refill.done where !stated.contains(where: { $0.subject == .list(fetch.gallery) }) {
            wishes.fulfil(fetch)
        }
        guard refill.hasChanged else { return }
        adoptWishes()
        // If the new pictures all wait for a retry, the fetch has room for others.
        if table.queue.isEmpty { refillBulkFetches() }
    }

    private func endBulkFetches(of gallery: GalleryID) {
        let ended = bulkFetches.subjects(of: gallery)
        guard !ended.isEmpty else { return }
        for subject in ended { wishes.fulfil(subject) }
        // The next snapshot omits these wishes, too, but until then more pictures would be fetched.
        stated.removeAll { ended.contains($0.subject) }
        adoptWishes()
    }

    // MARK: - Changes in the cache

    private func listen(to gallery: GalleryID) {
        guard listeners[gallery] == nil, let cache = context.caches.cache(gallery) else { return }
        let changes = cache.changes()
        listeners[gallery] = Task {
            for await change in changes {
                guard let rows = change["photo"] else { continue }
                bulkFetches.photosChanged(in: gallery)
                switch rows {
                case .listed(let rows): photosChanged(cache) { rows.contains($0.rawValue) }
                case .many: photosChanged(cache) { _ in true }
                }
                look()
            }
        }
    }

    private func photosChanged(_ cache: GalleryCache, _ isAffected: (PhotoKey) -> Bool) {
        let affected = table.subjects.filter { $0.gallery == cache.id && $0.photo.map(isAffected) == true }
        for subject in affected { rowChanged(subject) }
        for subject in context.activity.failures.map(\.subject) {
            guard case .picture(cache.id, let key, let rendition) = subject, isAffected(key) else { continue }
            // The row does not show a failure that has just happened.
            if case .running = table.state(of: subject) { continue }
            guard !postponed.isBeingRecorded(subject), cache.isWell(key, rendition) else { continue }
            context.activity.removeFailure(of: subject)
        }
    }

    /// Reacts to a changed row. A settled picture may be needed again; a running request may be useless.
    func rowChanged(_ subject: Wish.Subject) {
        switch table.state(of: subject) {
        case .running(let identity):
            let request = try? factory.request(for: subject)
            // The change may come from the running request's own commit, before the request ends. Then nothing is
            // missing, and the operation has received all bytes, or has left the table while its failure is recorded.
            let isEnding = request == nil && operations[identity]?.isTransferred != false
            guard request?.identity != identity, !isEnding else { return }
            operations.leave(identity, subject)
            table.enqueue(subject)
        case .waiting where postponed.isBeingRecorded(subject):
            // The change may be older than the failure, which the row does not show yet.
            postponed.rowChanged(subject)
        case .settled, .waiting:
            // A failure in the row is already known, so it leads to no retry.
            guard let request = try? factory.request(for: subject), !request.hasFailedBefore else { return }
            table.retry(subject)
        case .queued, nil: break
        }
    }

    // MARK: - Retries

    /// Retries a subject as soon as possible and restarts its retry schedule.
    private func retry(_ subject: Wish.Subject) {
        guard let host = table.hasten(subject, at: clock.now) else { return }
        operations.endSilence(of: host)
        showWait(of: subject)
    }

    /// Shortens the waits for a host that has answered.
    private func wake(_ host: String) { table.wake(host, at: clock.now) { schedule.chance() }.forEach(showWait) }

    /// Shows when a subject's wait ends, or that it has ended. Does not show a wait whose failure is being recorded.
    private func showWait(of subject: Wish.Subject) {
        if table.state(of: subject) == .queued { return context.activity.setRetry(of: subject, at: context.now()) }
        guard !postponed.isBeingRecorded(subject), case .waiting(let wait) = table.state(of: subject) else { return }
        let end = wait.until.map(reporter.timeOfDay)
        postponed[subject]?.showWaiting(wait.failure, until: end)
        context.activity.setRetry(of: subject, at: end)
    }

    /// Shows an unknown start time for due requests that could not start.
    private func showHeldBack(_ subjects: some Sequence<Wish.Subject>) {
        for subject in subjects where table.state(of: subject) == .queued {
            guard let (failure, _) = table.setback(of: subject) else { continue }
            postponed[subject]?.showWaiting(failure, until: nil)
        }
    }

    /// Queues the subjects whose waits have ended.
    private func ring(_ time: Duration) {
        guard alarm.end(time) else { return }
        let due = table.enqueueDue(at: clock.now)
        look()
        showHeldBack(due)
    }

    private func networkChanged(_ presence: NetworkPresence) {
        let useless = attachment.change(to: presence, at: clock.now)
        guard presence.isThere else { return reportAtOnce() }
        operations.networkChanged()
        client.abandonConnections(from: useless)
        lost.forgetOutages()
        // A new network needs a few seconds. The retries are spread out, so that they do not all start at once.
        table.wakeAll { clock.now + .seconds(clamped: 3 + schedule.chance()) }.forEach(showWait)
        look()
    }

    // MARK: - Transfers

    /// Reads all meters, follows the governor, and starts the admitted requests.
    func look() {
        for host in operations.readMeters() where lost.recordSign(of: host) { wake(host) }
        operations.interrupt(waiting: waiting)
        // This comes first, because a hanging transfer is more important than the transfer that would take its slot.
        if !isPaused { operations.repeatHanging(send) }
        startWaiting()
        operations.updatePieces()
        report()
    }

    /// A function that counts the transfers now queued for a host. During a pause, it returns 0.
    private var waiting: (String) -> Int {
        { [queue = table.queue, isPaused] host in isPaused ? 0 : queue.count(of: host) }
    }

    /// The maximum number of answers that wait for the disk. If the disk is slow, no more transfers start.
    private static let maximumUnstored = 64

    private func startWaiting() {
        refillBulkFetches()
        if startQueued() { Task { look() } }
        alarm.set(to: [table.firstDue, bulkFetches.firstDue].compactMap(\.self).min(), clock) { await self.ring($0) }
        setTick()
    }

    /// Starts queued requests. Returns whether a subject was settled at once, which may end a bulk fetch.
    private func startQueued() -> Bool {
        var hasSettled = false
        while !isPaused, operations.unstoredCount < Self.maximumUnstored,
            let (subject, candidate, way) = table.next({ lost.contains($0.host) ? .now(.any) : operations.admit($0) })
        {
            do {
                try start(subject, candidate.importance, over: way)
            } catch {
                let isFinal = !table.postpone(subject, RequestError(error).failure, schedule, at: clock.now)
                reporter.recordUnreadable(error, of: subject, isFinal: isFinal)
                if isFinal { settle(subject) }
            }
            if case .settled = table.state(of: subject) { hasSettled = true }
        }
        return hasSettled
    }

    private func start(_ subject: Wish.Subject, _ importance: Importance, over way: Admission.Way) throws {
        guard let request = try factory.request(for: subject) else { return settle(subject) }
        if join(subject, request) { return }
        table.setRunning(subject, request.identity)
        request.showStarted()
        postponed.remove(subject)
        operations.start(request, importance, for: subject, over: way, send)
    }

    /// Lets a running transfer serve another subject with the same request. Returns false if no such transfer runs.
    private func join(_ subject: Wish.Subject, _ request: any NetworkRequest) -> Bool {
        guard let operation = operations[request.identity] else { return false }
        table.setRunning(subject, request.identity)
        operation.serve(subject)
        updateImportance(of: request.identity)
        return true
    }

    /// Sends a request in a task, which reports its end under the attempt's number.
    private func send(_ request: any NetworkRequest, _ number: Int, _ permit: TransferPermit) -> Task<Void, Never> {
        let (step, loss) = (disturbance.next(), lost.error(of: request))
        return Task { [client, clock] in
            do {
                if step.delay > .zero { try await clock.sleep(until: clock.now + step.delay) }
                if let error = step.error ?? loss { throw error }
                try await request.perform(over: client, with: permit)
                await finish(request.identity, number, nil)
            } catch {
                await finish(request.identity, number, error)
            }
        }
    }

    private func updateImportance(of identity: RequestIdentity) {
        let importances = operations[identity]?.served.compactMap { table.importance(of: $0) }
        if let importance = importances?.max() { operations.setImportance(importance, of: identity) }
    }

    /// Schedules the next check of the transfers, unless an earlier one is scheduled.
    private func setTick() {
        let time = operations.nextLook(isQueueEmpty: table.queue.isEmpty, isPaused: isPaused, waiting: waiting)
        guard let time, tick.time.map({ time < $0 }) ?? true else { return }
        tick.set(to: time, clock) { await self.lookAfterTick($0) }
    }

    private func lookAfterTick(_ time: Duration) { if tick.end(time) { look() } }

    private func reportAtOnce() {
        reporter.expedite()
        report()
    }

    private func report() {
        let isIdle = reporter.report(operations, table, isOnNetwork: attachment.isThere, isPaused: isPaused)
        guard isIdle, operations.history.differs(from: savedHistory) else { return }
        savedHistory = operations.history
        onHistory(savedHistory)
    }

    // MARK: - Ends of requests

    private func finish(_ identity: RequestIdentity, _ number: Int, _ error: (any Error)?) async {
        let failure = error is CancellationError ? nil : error.map { RequestError($0) }
        guard let operation = operations.finish(identity, number, isSuccess: error == nil, failure) else { return }
        if let failure, !operation.served.isEmpty {
            let isAsked = operation.importance >= .lookedAt || operation.request.isNamedByUser
            await fail(operation, NetworkPresence.refine(isAsked ? failure : failure.deferred))
        } else if error != nil {
            // If no wish needs the request any more, its failure is not shown.
            operation.request.showCancelled()
            // The governor or a pause interrupted the request, or wishes joined it after it was cancelled.
            operation.served.forEach { table.enqueue($0) }
        } else {
            succeed(operation)
        }
        look()
    }

    private func succeed(_ operation: Operation) {
        reporter.recordSuccess(of: operation)
        operation.request.showDone()
        for subject in operation.everServed { context.activity.removeFailure(of: subject) }
        // A host that answered this request is likely to answer others. An export learns this before its wish ends.
        lost.recordSign(of: operation.candidate.host)
        wake(operation.candidate.host)
        let identity = operation.request.identity
        let unfinished = operation.served.filter { factory.isIncomplete($0, after: operation.request) }
        for subject in unfinished { table.enqueue(subject) }
        for subject in operation.served where !unfinished.contains(subject) { settle(subject, after: identity) }
        if case .list(let gallery) = identity.subject {
            // The list was stored, so the disk may take pictures again that it refused.
            let held = table.waiting.filter { $0.subject.gallery == gallery && $0.wait.until == nil }
            for (subject, _) in held { retry(subject) }
        }
    }

    private func fail(_ operation: Operation, _ error: RequestError) async {
        let (failure, host) = (error.failure, operation.candidate.host)
        if lost.recordFailure(error, of: host, isAnswered: operation.isAnswered, at: clock.now) { wake(host) }
        // Attempts during an outage do not count, because none of them reached the host.
        let attempts = lost.isAwaited(host) ? 1 : operation.served.map { table.countFailure($0) }.max() ?? 1
        let isLasting = attempts > 1 || operation.request.kind == .photo
        if let trouble = error.storageTrouble, reporter.recordTrouble(trouble) || isLasting {
            endBulkFetches(of: operation.request.identity.subject.gallery)
        }
        // After a disk error, a retry would transfer the whole photo again. So it waits for the user, if there is one.
        let waitsForUser = error.storageTrouble != nil && operation.request.kind == .photo
        guard failure.isTemporary, !waitsForUser || schedule.maximumAttempts == nil, !lost.contains(host),
            let delay = schedule.delay(afterAttempts: attempts, retryAfter: error.retryAfter)
        else {
            reporter.recordFailure(failure, attempts, of: operation, until: nil)
            // The cache's own trouble says nothing about a picture, so a later run tries again.
            let isOfCache = error.isOfCache && operation.request.kind != .list
            await isOfCache ? operation.request.recordPostponement(failure) : operation.request.recordFailure(failure)
            return giveUp(operation)
        }
        let wait = RequestTable.Wait(
            since: clock.now, until: waitsForUser ? nil : clock.now + delay,
            earliest: clock.now + min(.seconds(error.retryAfter ?? 0), delay),
            host: host, failure: failure, attempts: attempts)
        reporter.recordFailure(failure, attempts, of: operation, until: wait.until)
        await postpone(operation, wait)
    }

    /// Postpones an operation's subjects and records the failure in the cache.
    private func postpone(_ operation: Operation, _ wait: RequestTable.Wait) async {
        // Set the state before the cache changes: when the row's change arrives, the subject must be waiting already.
        for subject in operation.served {
            table.setWaiting(subject, wait)
            if table.isWanted(subject) { postponed.add(operation.request, for: subject) }
            postponed.beginRecording(subject)
        }
        await operation.request.recordPostponement(wait.failure)
        for subject in operation.served where postponed.endRecording(subject) { rowChanged(subject) }
        // Meanwhile the subject may have been dropped or started. Its wait may also have become shorter.
        if let subject = operation.served.first(where: { table.isWaiting($0, since: wait) }) { showWait(of: subject) }
    }

    /// Settles the subjects of a permanently failed request. Leaves out subjects that were dropped or started again.
    private func giveUp(_ operation: Operation) {
        let identity = operation.request.identity
        let successor = operations[identity]
        if successor == nil { operation.request.showDone() }
        for subject in operation.served
        where table.state(of: subject) == .running(identity) && successor?.served.contains(subject) != true {
            settle(subject, after: identity)
        }
    }
}
