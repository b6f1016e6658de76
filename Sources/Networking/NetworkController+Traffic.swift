import Cache
import HTTP
import Model
import Streams
import Traffic

/// How transfers go, and what the governor makes of it.
extension NetworkController {
    /// Looks at all transfers, lets the governor judge, and does what it says.
    func look() {
        for identity in operations.keys { readMeter(of: identity) }
        for number in governor.advance(to: clock.now.seconds, waiting: waiting) {
            // It is still wanted, so it goes back into the queue when it has ended.
            if let identity = numbers[number] { operations[identity]?.attempt(number)?.task.cancel() }
        }
        // What hangs is more important than what would take its room.
        repeatWhatHangs()
        startWhatMayStart()
        for attempt in operations.values.lazy.flatMap(\.attempts) where attempt.permit.isInPieces {
            attempt.permit.setPieces(governor.pieces(of: attempt.number))
        }
        reportTraffic()
    }

    /// How many wait for a host that could be started. What is taken up meanwhile is not in it.
    private var waiting: (String) -> Int {
        { [queue = agenda.queue, isPaused] host in isPaused ? 0 : queue.count(of: host) }
    }

    /// Tells the governor what the meters of an operation show.
    ///
    /// Nobody knows when each of it happened, so all of it has happened now: what is found together, from its beginning to its
    /// end, has not taken the microseconds that it takes to be told.
    func readMeter(of identity: RequestIdentity) {
        guard let operation = operations[identity] else { return }
        let now = clock.now.seconds
        for attempt in operation.attempts {
            for news in attempt.news() {
                governor.note(news, of: attempt.number, at: now)
                if case .ended = news { numbers[attempt.number] = nil }
            }
        }
    }

    /// Goes on without one attempt of several.
    func giveUp(_ attempt: Attempt, of operation: Operation, _ error: RequestError? = nil) {
        operation.giveUp(attempt)
        noteEnd(of: attempt, of: operation, error)
    }

    /// Tells the governor how a request ended.
    func noteEnd(of operation: Operation, _ error: RequestError?) {
        received += operation.received
        for attempt in operation.attempts { noteEnd(of: attempt, of: operation, error) }
    }

    /// Tells the governor how an attempt ended, as far as it has not heard that its transfer is over.
    private func noteEnd(of attempt: Attempt, of operation: Operation, _ error: RequestError?) {
        if numbers.removeValue(forKey: attempt.number) != nil {
            governor.note(.ended(error?.ending ?? .cancelled), of: attempt.number, at: clock.now.seconds)
        }
        if error?.isComplaint == true {
            governor.noteComplaint(of: operation.candidate.host, at: clock.now.seconds)
        }
    }

    /// Looks again after a while, as long as anything is transferred. What was set while there was less to look after may be
    /// too late by now.
    func setTick() {
        guard
            let pace = numbers.isEmpty && agenda.queue.isEmpty
                ? nil : governor.pace(at: clock.now.seconds, waiting: waiting)
        else { return }
        let time = clock.now + .seconds(agenda.queue.isEmpty ? restingPace(pace) : pace)
        if let tick {
            guard time < tick.time else { return }
            tick.task.cancel()
        }
        tick = (
            time,
            Task { [clock] in
                // Another may have taken its place in this very moment.
                guard (try? await clock.sleep(until: time)) != nil, !Task.isCancelled else { return }
                self.lookAfterTick()
            }
        )
    }

    private func lookAfterTick() {
        tick = nil
        look()
    }

    /// With nothing to start there is less to look after: what hangs, and that it is seen how it goes.
    private func restingPace(_ pace: Double) -> Double {
        let patience = isPaused ? nil : governor.patience(at: clock.now.seconds)
        return min(max(pace, Self.reportPace), patience ?? .infinity)
    }

    // MARK: - Reports

    private static let reportPace = 0.25

    /// Somebody looks on from now on, and is not to wait for the next report.
    func noteInterest(_ interest: TrafficInterest) {
        guard interest.isWatched else { return }
        lastReport = nil
        reportTraffic()
    }

    /// Notes how it goes: a few times a second while anything runs, and once more when nothing does.
    private func reportTraffic() {
        let isOver = operations.isEmpty
        if let lastReport, !isOver, clock.now - lastReport < .seconds(Self.reportPace) { return }
        // What has been said once of nothing holds until there is something.
        if isOver, isOverReported, !context.activity.isTrafficWatched { return }
        let report = trafficReport()
        context.activity.note(report, at: context.now())
        context.log.debug(.networkDetail, report.line)
        (lastReport, isOverReported) = (isOver ? nil : clock.now, isOver)
        if isOver { keepHistory() }
    }

    private func trafficReport() -> TrafficReport {
        let judgement = governor.report
        let coming = operations.values.reduce(Int64(0)) { $0 + $1.received }
        let waiting = agenda.waiting
        return TrafficReport(
            quality: judgement.quality ?? .good, running: numbers.count, limit: judgement.limit,
            window: Int64(judgement.window), bandwidth: judgement.bandwidth, roundTrip: judgement.roundTrip,
            received: received + coming, isPaused: isPaused, queued: agenda.queue.count, waiting: waiting.count,
            transfers: context.activity.isTrafficWatched ? transferReports(waiting) : [])
    }

    private func transferReports(_ waiting: [(subject: Wish.Subject, wait: Agenda.Wait)]) -> [TransferReport] {
        let running = operations.values.sorted { ($1.importance, $0.number) < ($0.importance, $1.number) }
            .compactMap { operation -> TransferReport? in
                guard let subject = operation.served.first else { return nil }
                let time = (clock.now - operation.beginning).seconds
                guard let reading = operation.attempts.map(\.permit.meter.reading).max(by: { $0.bytes < $1.bytes })
                else { return nil }
                // What was here when it began: by now it is where the rest goes.
                let held = Int64(operation.candidate.held)
                return TransferReport(
                    subject, host: operation.request.address.host, importance: operation.importance,
                    stage: .running(
                        Progress(
                            done: held + reading.bytes,
                            total: reading.length.map { $0 + held }),
                        speed: time > 0 ? Double(reading.bytes) / time : nil))
            }
        let queued = agenda.queue.first(TrafficReport.maximumTransfers).map {
            TransferReport($0.subject, host: $0.candidate.host, importance: $0.candidate.importance, stage: .queued)
        }
        let firstDue = waiting.sorted { $0.wait.until ?? .forEver < $1.wait.until ?? .forEver }
        let putOff = firstDue.prefix(TrafficReport.maximumTransfers).compactMap { subject, wait -> TransferReport? in
            guard let importance = agenda.importance(of: subject) else { return nil }
            return TransferReport(
                subject, host: wait.host, importance: importance,
                stage: .waiting(wait.failure, attempts: wait.attempts, until: wait.until.map(timeOfDay)))
        }
        return running + putOff + queued
    }

    /// Keeps among the failures of this run what has just failed.
    func report(_ failure: Failure, _ attempts: Int, of operation: Operation, until next: Duration?) {
        let now = context.now()
        for subject in operation.served {
            context.activity.note(
                FailureReport(
                    subject, failure, attempts: attempts, first: now, last: now,
                    next: next.map(timeOfDay)))
        }
    }

    private func timeOfDay(_ time: Duration) -> Timestamp {
        Timestamp(milliseconds: context.now().milliseconds + Int64((time - clock.now).seconds * 1000))
    }
}

extension TrafficReport {
    /// For the log.
    fileprivate var line: String {
        let rate = bandwidth.map { "\(Int($0 / 1000)) kB/s" } ?? "unknown"
        let time = roundTrip.map { "\(Int($0 * 1000)) ms" } ?? "unknown"
        return """
            \(quality.rawValue): \(running) running, \(queued) queued, window \(window / 1000) kB, bandwidth \(rate), \
            round trip \(time)
            """
    }
}

/// Word that there is something to be read off a meter. There is nothing more to say: all meters are looked at.
struct MeterNews: Coalescing, Sendable {
    mutating func merge(_ later: MeterNews) {}
}

extension Duration {
    /// Longer than anybody waits.
    fileprivate static var forEver: Duration { .seconds(Int64.max) }

    /// As governors count.
    var seconds: Double {
        Double(components.seconds) + Double(components.attoseconds) / 1e18
    }
}
