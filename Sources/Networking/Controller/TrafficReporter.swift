import Cache
import HTTP
import Model
import Numbers
import Scheduling
import Session

/// Reports transfers and failures to the activity, which screens show. Reports the state of the transfers a few times a
/// second, and failures when they happen.
struct TrafficReporter {
    /// The number of seconds between two reports while transfers run.
    static let interval = 0.25
    /// The maximum number of disk problems in a row. After more problems, bulk fetches of the gallery end, because the
    /// problem seems to be lasting.
    private static let mostTroubles = 8

    private let context: RequestContext
    private let clock: any NetworkClock
    /// The time of the last report; nil to report at once.
    private var lastReport: Duration?
    /// Whether the last report already showed that nothing runs.
    private var isIdleReported = true
    /// The number of disk problems since the cache last stored something.
    private var troubles = 0

    init(_ context: RequestContext, _ clock: any NetworkClock) {
        (self.context, self.clock) = (context, clock)
    }

    /// Makes the next report due at once.
    mutating func expedite() { lastReport = nil }

    /// Makes a report if one is due. Returns true if nothing runs any more and the report has shown that.
    mutating func report(_ operations: OperationTable, _ table: RequestTable, isOnNetwork: Bool, isPaused: Bool) -> Bool
    {
        let isIdle = operations.isEmpty
        if let lastReport, !isIdle, clock.now - lastReport < .seconds(clamped: Self.interval) { return false }
        // One idle report is enough, unless the user looks at the transfers.
        if isIdle, isIdleReported, !context.activity.isTrafficWatched { return false }
        let report = trafficReport(operations, table, isOnNetwork: isOnNetwork, isPaused: isPaused)
        context.activity.setTraffic(report, at: context.now())
        context.log.debug(.networkDetail, report.line)
        (lastReport, isIdleReported) = (isIdle ? nil : clock.now, isIdle)
        return isIdle
    }

    /// Adds an operation's failure to the failures of this run.
    func recordFailure(_ failure: Failure, _ attempts: Int, of operation: Operation, until next: Duration?) {
        let now = context.now()
        for subject in operation.served {
            context.activity.recordFailure(
                FailureReport(subject, failure, attempts: attempts, first: now, last: now, next: next.map(timeOfDay)))
        }
    }

    /// Reports a problem of the cache's disk. Returns whether so many occurred in a row that the problem is lasting.
    mutating func recordTrouble(_ trouble: StorageTrouble) -> Bool {
        context.activity.report(trouble)
        troubles += 1
        return troubles > Self.mostTroubles
    }

    /// Notes that the answer to an operation was stored, and logs its size and time.
    mutating func recordSuccess(of operation: Operation) {
        troubles = 0
        // Local files come over no network and need no log entry each.
        guard !operation.candidate.isLocal else { return }
        let time = Int(clamped: (clock.now - operation.start).seconds * 1000)
        context.log.info(
            .network, "\(operation.request.address): \(operation.received) bytes received in \(time) ms")
    }

    /// Logs and reports that the cache cannot be read. For example, no file descriptor may be free.
    ///
    /// - Parameters:
    ///   - subject: the subject that needs the cache; nil for a bulk fetch.
    ///   - isFinal: whether Vitrine does not try again, so that the user must know.
    func recordUnreadable(_ error: any Error, of subject: Wish.Subject? = nil, isFinal: Bool) {
        context.log.error(.cache, "\(error)")
        let error = RequestError(error)
        if let subject, case .picture(_, _, .original) = subject {
            context.activity.setFailure(error.failure, of: subject)
        }
        if case .list(let gallery)? = subject { context.activity.setFailure(error.failure, of: gallery) }
        if isFinal, let trouble = error.storageTrouble { context.activity.report(trouble) }
    }

    /// Converts a time of the controller's clock into a time of day.
    func timeOfDay(_ time: Duration) -> Timestamp {
        context.now().advanced(by: (time - clock.now).seconds)
    }

    private func trafficReport(
        _ operations: OperationTable, _ table: RequestTable, isOnNetwork: Bool, isPaused: Bool
    ) -> TrafficReport {
        let judgement = operations.report
        let waiting = table.waiting
        let hosts = Set(operations.all.map(\.candidate.host)).union(table.queue.hosts).union(waiting.map(\.wait.host))
        return TrafficReport(
            quality: judgement.quality, isOnNetwork: isOnNetwork || hosts.contains(where: Self.isThisMachine),
            unreachable: judgement.missed.intersection(hosts).map(Self.name).sorted(),
            running: operations.transferCount, width: judgement.width, limit: judgement.limit,
            window: ByteCount(judgement.window), bandwidth: judgement.bandwidth, roundTrip: judgement.roundTrip,
            received: operations.received, isPaused: isPaused, queued: table.queue.count, waiting: waiting.count,
            transfers: context.activity.isTrafficWatched ? transfers(operations, table, waiting, judgement) : [])
    }

    /// Whether a host is this machine, which needs no network.
    private static func isThisMachine(_ host: String) -> Bool {
        let name = name(of: host)
        return ["127.", "localhost", "[::1]"].contains { name.hasPrefix($0) }
    }

    private func transfers(
        _ operations: OperationTable, _ table: RequestTable,
        _ waiting: [(subject: Wish.Subject, wait: RequestTable.Wait)], _ judgement: GovernorReport
    ) -> [TransferReport] {
        let running = operations.all.sorted { ($1.importance, $0.number) < ($0.importance, $1.number) }
            .compactMap(runningReport)
        let queued = table.queued(TrafficReport.maximumTransfers).map {
            TransferReport(
                $0.subject, host: Self.name(of: $0.candidate.host), importance: $0.candidate.importance,
                stage: stage(table.setback(of: $0.subject), $0.candidate, judgement))
        }
        let firstDue = waiting.sorted { $0.wait.until ?? .forever < $1.wait.until ?? .forever }
        let postponed = firstDue.prefix(TrafficReport.maximumTransfers).compactMap { subject, wait -> TransferReport? in
            guard let importance = table.importance(of: subject) else { return nil }
            return TransferReport(
                subject, host: Self.name(of: wait.host), importance: importance,
                stage: .waiting(wait.failure, attempts: wait.attempts, until: wait.until.map(timeOfDay)))
        }
        return running + postponed + queued
    }

    private func runningReport(_ operation: Operation) -> TransferReport? {
        guard let subject = operation.served.first,
            let reading = operation.attempts.map(\.permit.meter.reading).max(by: { $0.bytes < $1.bytes })
        else { return nil }
        let time = (clock.now - operation.start).seconds
        // This is the file's size at the start, left by an earlier attempt. The file grows now, so its present size
        // would count the new bytes twice.
        let held = ByteCount(operation.candidate.held)
        let progress = Progress(done: held + reading.bytes, total: reading.length.map { $0 + held })
        return TransferReport(
            subject, host: Self.name(of: operation.candidate.host), importance: operation.importance,
            stage: .running(progress, speed: time > 0 ? Double(reading.bytes) / time : nil))
    }

    /// Returns the stage of a queued transfer. Includes the reason if the host delays the transfer.
    private func stage(
        _ setback: (failure: Failure, attempts: Int)?, _ candidate: TransferCandidate, _ judgement: GovernorReport
    ) -> TransferReport.Stage {
        let host = candidate.host
        if judgement.unreachable.contains(host), setback?.failure.remedy != .network {
            let failure = RequestError.transfer(.unreachable(Self.name(of: host))).failure
            return .heldBack(failure, attempts: setback?.attempts ?? 0)
        }
        if setback == nil, candidate.importance < .list, judgement.silences[host] ?? 0 > clock.now.seconds {
            return .heldBack(RequestError.status(429, retryAfter: nil).failure, attempts: 0)
        }
        return setback.map { .heldBack($0.failure, attempts: $0.attempts) } ?? .queued
    }

    /// Returns the name of a host, as the user sees it.
    private static func name(of host: String) -> String {
        Origin(host)?.place ?? host
    }
}

extension TrafficReport {
    /// The report as a line of the log.
    fileprivate var line: String {
        let rate = bandwidth.map { "\(Int(clamped: $0 / 1000)) kB/s" } ?? "unknown"
        let time = roundTrip.map { "\(Int(clamped: $0 * 1000)) ms" } ?? "unknown"
        return """
            \(quality?.rawValue ?? "unknown"): \(running) running, \(queued) queued, window \(window / 1000) kB, \
            bandwidth \(rate), round trip \(time)
            """
    }
}

extension Duration {
    /// A duration longer than any wait for a retry.
    fileprivate static var forever: Duration { .seconds(Int.max) }

    /// The duration in seconds, the unit of the governor.
    ///
    /// This sum gives the same number from which `.seconds(_:)` made a time. A division by `.seconds(1)` would round,
    /// so that the end of a wait could seem not to have come.
    var seconds: Double {
        Double(components.seconds) + Double(components.attoseconds) / 1e18
    }
}
