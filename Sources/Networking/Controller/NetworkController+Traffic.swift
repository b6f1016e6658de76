import Cache
import Session
import HTTP
import Model
import Numbers
import Concurrency
import Scheduling

/// How transfers go, and what the governor makes of it.
extension NetworkController {
    /// Looks at all transfers, lets the governor judge, and does what it says.
    func look() {
        for operation in operations.values { readMeters(of: operation) }
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
        { [queue = table.queue, isPaused] host in isPaused ? 0 : queue.count(of: host) }
    }

    /// Tells the governor what the meters of an operation show.
    ///
    /// Nobody knows when each of it happened, so all of it has happened now: what is found together, from its beginning to its
    /// end, has not taken the microseconds that it takes to be told.
    func readMeters(of operation: Operation) {
        for attempt in operation.attempts {
            let found = attempt.news()
            guard !found.isEmpty else { continue }
            let now = clock.now.seconds
            for news in found {
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
            let silence = schedule.silence(retryAfter: error?.silence)
            governor.noteComplaint(of: operation.candidate.host, silence: Double(silence), at: clock.now.seconds)
        }
    }

    /// Looks again after a while, as long as anything is transferred. What was set while there was less to look after may be
    /// too late by now.
    func setTick() {
        guard
            let pace = numbers.isEmpty && table.queue.isEmpty
                ? nil : governor.pace(at: clock.now.seconds, waiting: waiting)
        else { return }
        let time = clock.now + .seconds(clamped: table.queue.isEmpty ? restingPace(pace) : pace)
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
        if interest.isWatched { reportAtOnce() }
    }

    /// Reports without waiting for the next report to be due.
    func reportAtOnce() {
        lastReport = nil
        reportTraffic()
    }

    /// Notes how it goes: a few times a second while anything runs, and once more when nothing does.
    private func reportTraffic() {
        let isOver = operations.isEmpty
        if let lastReport, !isOver, clock.now - lastReport < .seconds(clamped: Self.reportPace) { return }
        // What has been said once of nothing holds until there is something.
        if isOver, isOverReported, !context.activity.isTrafficWatched { return }
        let report = trafficReport()
        context.activity.setTraffic(report, at: context.now())
        context.log.debug(.networkDetail, report.line)
        (lastReport, isOverReported) = (isOver ? nil : clock.now, isOver)
        if isOver { keepHistory() }
    }
}

/// Word that there is something to be read off a meter. There is nothing more to say: all meters are looked at.
struct MeterNews: Coalescing, Sendable {
    mutating func merge(_ later: MeterNews) {}
}

extension Duration {
    /// As governors count.
    var seconds: Double {
        Double(components.seconds) + Double(components.attoseconds) / 1e18
    }
}
