import Cache
import Session
import HTTP
import Model
import Numbers
import Scheduling

/// What is said of the transfers, and of what failed.
extension NetworkController {
    func trafficReport() -> TrafficReport {
        let judgement = governor.report
        let coming = operations.values.reduce(0 as ByteCount) { $0 + $1.received }
        let waiting = table.waiting
        let wanted = wantedHosts(waiting)
        return TrafficReport(
            quality: judgement.quality,
            isOnNetwork: presence.isThere || wanted.contains(where: Self.isOfThisMachine),
            unreachable: judgement.missed.intersection(wanted).map(Self.name).sorted(), running: numbers.count,
            width: judgement.width, limit: judgement.limit,
            window: ByteCount(judgement.window), bandwidth: judgement.bandwidth, roundTrip: judgement.roundTrip,
            received: received + coming, isPaused: isPaused, queued: table.queue.count, waiting: waiting.count,
            transfers: context.activity.isTrafficWatched ? transferReports(waiting, judgement) : [])
    }

    /// The hosts that something is fetched from, or is to be.
    private func wantedHosts(_ waiting: [(subject: Wish.Subject, wait: RequestTable.Wait)]) -> Set<String> {
        Set(operations.values.map(\.candidate.host)).union(table.queue.hosts).union(waiting.map(\.wait.host))
    }

    /// Whether the way to a host is over no network: it is this machine itself.
    private static func isOfThisMachine(_ host: String) -> Bool {
        let name = name(of: host)
        return ["127.", "localhost", "[::1]"].contains { name.hasPrefix($0) }
    }

    private func transferReports(
        _ waiting: [(subject: Wish.Subject, wait: RequestTable.Wait)], _ judgement: GovernorReport
    ) -> [TransferReport] {
        let running = operations.values.sorted { ($1.importance, $0.number) < ($0.importance, $1.number) }
            .compactMap { operation -> TransferReport? in
                guard let subject = operation.served.first else { return nil }
                let time = (clock.now - operation.beginning).seconds
                guard let reading = operation.attempts.map(\.permit.meter.reading).max(by: { $0.bytes < $1.bytes })
                else { return nil }
                // What was here when it began: by now it is where the rest goes.
                let held = ByteCount(operation.candidate.held)
                return TransferReport(
                    subject, host: Self.name(of: operation.candidate.host), importance: operation.importance,
                    stage: .running(
                        Progress(
                            done: held + reading.bytes,
                            total: reading.length.map { $0 + held }),
                        speed: time > 0 ? Double(reading.bytes) / time : nil))
            }
        let queued = table.queued(TrafficReport.maximumTransfers).map {
            TransferReport(
                $0.subject, host: Self.name(of: $0.candidate.host), importance: $0.candidate.importance,
                stage: stage(of: $0.subject, $0.candidate.importance, from: $0.candidate.host, judgement))
        }
        let firstDue = waiting.sorted { $0.wait.until ?? .forEver < $1.wait.until ?? .forEver }
        let putOff = firstDue.prefix(TrafficReport.maximumTransfers).compactMap { subject, wait -> TransferReport? in
            guard let importance = table.importance(of: subject) else { return nil }
            return TransferReport(
                subject, host: Self.name(of: wait.host), importance: importance,
                stage: .waiting(wait.failure, attempts: wait.attempts, until: wait.until.map(timeOfDay)))
        }
        return running + putOff + queued
    }

    /// What has its turn to come, and what is in the way of it. Of a host that cannot be reached one thing at a time is tried, and
    /// one that does not want to be asked is not.
    private func stage(
        of subject: Wish.Subject, _ importance: Importance, from host: String, _ judgement: GovernorReport
    ) -> TransferReport.Stage {
        let setback = table.setback(of: subject)
        if judgement.unreachable.contains(host), setback?.failure.remedy != .network {
            let failure = RequestError.transfer(.unreachable(Self.name(of: host))).failure
            return .heldBack(failure, attempts: setback?.attempts ?? 0)
        }
        if setback == nil, importance < .list, judgement.silences[host] ?? 0 > clock.now.seconds {
            return .heldBack(RequestError.status(429, retryAfter: nil).failure, attempts: 0)
        }
        return setback.map { .heldBack($0.failure, attempts: $0.attempts) } ?? .queued
    }

    /// A governor's name of a host, as it is shown.
    private static func name(of host: String) -> String {
        Origin(host)?.place ?? host
    }

    /// Keeps among the failures of this run what has just failed.
    func report(_ failure: Failure, _ attempts: Int, of operation: Operation, until next: Duration?) {
        let now = context.now()
        for subject in operation.served {
            context.activity.recordFailure(
                FailureReport(
                    subject, failure, attempts: attempts, first: now, last: now,
                    next: next.map(timeOfDay)))
        }
    }

    func timeOfDay(_ time: Duration) -> Timestamp {
        context.now().advanced(by: (time - clock.now).seconds)
    }
}

extension TrafficReport {
    /// For the log.
    var line: String {
        let rate = bandwidth.map { "\(Int(clamped: $0 / 1000)) kB/s" } ?? "unknown"
        let time = roundTrip.map { "\(Int(clamped: $0 * 1000)) ms" } ?? "unknown"
        return """
            \(quality?.rawValue ?? "unknown"): \(running) running, \(queued) queued, window \(window / 1000) kB, \
            bandwidth \(rate), round trip \(time)
            """
    }
}

extension Duration {
    /// Longer than anybody waits.
    fileprivate static var forEver: Duration { .seconds(Int.max) }
}
