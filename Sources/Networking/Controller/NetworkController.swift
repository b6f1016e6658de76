import Cache
import Session
import HTTP
import Logging
import Model
import Numbers
import Concurrency
import Scheduling

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
/// the client's threads, as many as the governor lets. What a processor has to do is done on queues of its own.
public actor NetworkController {
    let wishes: Wishes
    let context: RequestContext
    let client: HTTPClient
    let schedule: RetrySchedule
    let clock: any NetworkClock
    private let kinds: [any NetworkRequest.Type]
    private let network: CoalescingStream<NetworkPresence>
    /// Whether the machine is on a network, as the kernel said last.
    var presence = NetworkPresence(isThere: true)
    var disturbance: Disturbance
    private let onHistory: @Sendable (HostHistory) -> Void
    private var keptHistory: HostHistory
    var governor: any Governor
    var table: RequestTable
    var operations: [RequestIdentity: Operation] = [:]
    /// Operations by the numbers of their attempts, as long as those are not through.
    var numbers: [Int: RequestIdentity] = [:]
    var lastNumber = 0
    /// Requests whose attempt failed and that will be tried again: to be told if nobody wants them any more.
    var putOff: [Wish.Subject: any NetworkRequest] = [:]
    /// What is being written down as put off, and whether its row was heard to have changed meanwhile.
    var beingPutOff: [Wish.Subject: Bool] = [:]
    var sweeps: [Wish.Subject: BulkFetch] = [:]
    /// What screens and commands wish for, sweeps left out.
    var stated: [Wish] = []
    /// What the user does not want now, and whether he wants nothing at all to begin.
    private(set) var declined: Set<Wish.Subject> = []
    private(set) var isPaused = false
    /// The number of each asking that has been taken in.
    private var asked: [Wish.Subject: Int] = [:]
    /// What could not be stored, for the disk's sake, since something last could.
    var unstored = 0
    var listeners: [GalleryID: Task<Void, Never>] = [:]
    var alarm: (time: Duration, task: Task<Void, Never>)?
    /// The next look at the transfers though nothing has been heard of them.
    var tick: (time: Duration, task: Task<Void, Never>)?
    /// When the transfers were last reported on, since the first of those that run.
    var lastReport: Duration?
    /// Whether it has been said that nothing runs any more.
    var isOverReported = true
    /// All bytes that transfers brought which are over.
    var received: ByteCount = 0
    /// Heard of whenever there is something to be read off a meter.
    let meterNews = CoalescingStream<MeterNews>()
    private let executor = QueueExecutor(label: "vitrine.network")

    /// A queue of its own: it looks into the cache, which reads the disk.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// Makes a controller. Nothing happens before ``run()``.
    ///
    /// - Parameters:
    ///   - network: says when the machine's networks change.
    ///   - disturbance: makes the network worse than it is.
    ///   - onHistory: keeps what was found out about hosts, for the next run; called when nothing is left to transfer.
    public init(
        wishes: Wishes, context: RequestContext, client: HTTPClient, governor: any Governor = AdaptiveGovernor(),
        schedule: RetrySchedule = RetrySchedule(), clock: any NetworkClock = MachineClock(),
        network: CoalescingStream<NetworkPresence> = CoalescingStream(), disturbance: Disturbance = Disturbance(),
        onHistory: @escaping @Sendable (HostHistory) -> Void = { _ in },
        kinds: [any NetworkRequest.Type] = [GalleryListRequest.self, ThumbnailRequest.self, PhotoRequest.self]
    ) {
        self.wishes = wishes
        self.context = context
        self.client = client
        self.governor = governor
        keptHistory = governor.history
        self.schedule = schedule
        self.clock = clock
        self.network = network
        self.disturbance = disturbance
        self.onHistory = onHistory
        self.kinds = kinds
        table = RequestTable { Self.candidate($0, kinds, context) }
    }

    /// Works until the task is cancelled. Then everything under way is cancelled too.
    public func run() async {
        presence = .current
        let listening = [
            Task { for await _ in meterNews { look() } },
            Task { [network] in for await presence in network { noteNetwork(presence) } },
            Task { [context] in for await interest in context.activity.trafficInterest() { noteInterest(interest) } },
        ]
        for await snapshot in wishes.snapshots() { take(snapshot) }
        for task in listening { task.cancel() }
        end()
    }

    /// Lets go of everything. What is under way finds, when it ends, that it serves nobody and that nothing is next.
    private func end() {
        (stated, asked) = ([], [:])
        adoptWishes()
        for listener in listeners.values { listener.cancel() }
        alarm?.task.cancel()
        tick?.task.cancel()
    }

    // MARK: - Wishes

    /// Takes in what is wished for now.
    func take(_ snapshot: Wishes.Snapshot) {
        let anew = snapshot.asked.filter { asked[$0.key] != $0.value }.keys
        for subject in anew { sweeps[subject] = nil }
        (stated, asked) = (snapshot.wishes, snapshot.asked)
        declined = snapshot.declined
        adoptWishes()
        for subject in anew { beginAnew(subject) }
        for subject in snapshot.retried { retry(subject) }
        let all = snapshot.areAllRetried ? table.waiting.map(\.subject) : []
        for subject in all { retry(subject) }
        setPaused(snapshot.isPaused)
        look()
        announceHeldBack(snapshot.retried.union(all))
    }

    /// Has kept what was found out about hosts, if it is anything new.
    func keepHistory() {
        let history = governor.history
        guard history.isNews(after: keptHistory) else { return }
        keptHistory = history
        onHistory(history)
    }

    func adoptWishes() {
        var standing: [Wish.Subject: BulkFetch] = [:]
        for sweep in stated.lazy.compactMap(BulkFetch.init) { standing[sweep.subject] = sweeps[sweep.subject] ?? sweep }
        sweeps = standing
        for subject in declined { for sweep in sweeps.keys { sweeps[sweep]?.leaveOut(subject) } }
        for gallery in Set(stated.lazy.map(\.subject.gallery)) { listen(to: gallery) }
        for (subject, state) in adoptInAgenda() { drop(subject, state) }
        for identity in operations.keys { adaptImportance(of: identity) }
    }

    /// What is stated, with what sweeps have taken up in their place.
    private func adoptInAgenda() -> [(subject: Wish.Subject, state: RequestTable.State)] {
        // There may be very many, and without a sweep they need not be written out once more.
        guard !sweeps.isEmpty else { return table.adopt(stated) }
        let wanted = stated.filter { BulkFetch($0) == nil }
        let named = Set(wanted.map(\.subject))
        takeOverWhatRuns(except: named)
        return table.adopt(wanted + sweeps.values.flatMap(\.wishes).filter { !named.contains($0.subject) })
    }

    /// Lets go of what nobody wants any more.
    private func drop(_ subject: Wish.Subject, _ state: RequestTable.State) {
        switch state {
        case .running(let identity): leave(identity, subject)
        // What is due may be queued for long, where a host is known to be gone: it still says that it waits.
        case .waiting, .queued: putOff.removeValue(forKey: subject)?.noteCancelled()
        case .settled: break
        }
        context.activity.noteUnwanted(subject)
    }

    func leave(_ identity: RequestIdentity, _ subject: Wish.Subject) {
        operations[identity]?.leave(subject)
        if operations[identity]?.served.isEmpty == true { operations[identity]?.cancel() }
    }

    /// What was asked for, fulfilled and asked for again between two snapshots has never been seen to go. It is settled
    /// here, and wanted nevertheless.
    private func beginAnew(_ subject: Wish.Subject) {
        switch table.state(of: subject) {
        case .settled, .waiting:
            table.forgiveFailures(subject)
            table.enqueue(subject)
        case .queued, .running, nil: break
        }
    }

    /// Nothing begins while the user wants a pause, and what was for later is put back.
    private func setPaused(_ isPaused: Bool) {
        self.isPaused = isPaused
        guard isPaused else { return }
        for operation in operations.values where operation.importance < .visible { operation.cancel() }
    }

    // MARK: - Requests

    func request(for subject: Wish.Subject) throws -> (any NetworkRequest)? {
        try Self.request(for: subject, kinds, context)
    }

    private static func request(
        for subject: Wish.Subject, _ kinds: [any NetworkRequest.Type], _ context: RequestContext
    ) throws -> (any NetworkRequest)? {
        for kind in kinds {
            if let request = try kind.make(for: subject, in: context) { return request }
        }
        return nil
    }

    /// What there is to say of a wish before its turn has come. Where nothing is wanting, or the cache cannot be read, that is
    /// found when its turn comes, which is at once.
    private static func candidate(
        _ wish: Wish, _ kinds: [any NetworkRequest.Type], _ context: RequestContext
    ) -> TransferCandidate {
        let request = (try? request(for: wish.subject, kinds, context)).flatMap { $0 }
        return request?.candidate(wish.importance)
            ?? TransferCandidate(host: "", importance: wish.importance, kind: .thumbnail)
    }
}
