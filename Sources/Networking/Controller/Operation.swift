import HTTP
import Model
import Numbers
import Scheduling

/// A request under way, and every wish that it serves.
///
/// It is a class, though only the controller holds it: it is read thousands of times a second and must not be copied.
final class Operation {
    /// The number of its first attempt. Later operations have higher numbers.
    let number: Int
    /// The request, which the controller runs and reports about.
    let request: any NetworkRequest
    /// The form in which the governor knows this request.
    let candidate: TransferCandidate
    /// When it began.
    let start: Duration
    /// Its transfers: one, or two after the first one hung. The first to finish counts.
    private(set) var attempts: [Attempt]
    /// Bytes of attempts that were dropped for another.
    private var droppedBytes: ByteCount = 0
    /// Subjects that share this request; the controller reports to each.
    private(set) var served: Set<Wish.Subject>
    /// Every subject that it serves or has served. A subject can leave when its picture is stored, before the operation ends.
    private(set) var everServed: Set<Wish.Subject>
    /// The highest importance of the subjects that it serves.
    var importance: Importance

    init(
        _ request: any NetworkRequest, _ candidate: TransferCandidate, _ attempt: Attempt, start: Duration,
        serving subject: Wish.Subject
    ) {
        number = attempt.number
        self.request = request
        self.candidate = candidate
        self.start = start
        attempts = [attempt]
        (served, everServed) = ([subject], [subject])
        importance = candidate.importance
    }

    /// Whether all bytes have arrived. They may still have to be stored.
    var isTransferred: Bool { attempts.contains(where: \.isTransferred) }

    /// Bytes received, as of the last look at the meters.
    var received: ByteCount { attempts.reduce(droppedBytes) { $0 + $1.received } }

    /// The attempt with a number; nil after it was dropped.
    func attempt(_ number: Int) -> Attempt? { attempts.first { $0.number == number } }

    /// Adds a second attempt beside the one that hangs.
    func add(_ attempt: Attempt) { attempts.append(attempt) }

    /// Cancels one attempt and goes on with the others.
    func drop(_ attempt: Attempt) {
        attempts.removeAll { $0 === attempt }
        droppedBytes += attempt.received
        attempt.task.cancel()
    }

    /// Cancels all attempts. Each of them still reports its end.
    func cancel() {
        for attempt in attempts { attempt.task.cancel() }
    }

    /// Serves one more subject.
    func serve(_ subject: Wish.Subject) {
        served.insert(subject)
        everServed.insert(subject)
    }

    /// Stops serving a subject.
    func leave(_ subject: Wish.Subject) { served.remove(subject) }
}

/// One transfer of an operation, and what the governor knows of it.
///
/// It is a class, since meters are read thousands of times a second and it must not be copied.
final class Attempt {
    /// The governor's number for it.
    let number: Int
    /// The governor's permission, which holds the meter.
    let permit: TransferPermit
    /// The work, which the controller cancels.
    let task: Task<Void, Never>
    private var reported = Reported()

    /// The facts that the governor has been told.
    private struct Reported {
        var connect: Double?
        var wait: Double?
        var asked: ByteCount?
        var bytes: ByteCount = 0
        var isOver = false
    }

    init(_ number: Int, _ permit: TransferPermit, _ task: Task<Void, Never>) {
        self.number = number
        self.permit = permit
        self.task = task
        reported.asked = permit.isInPieces ? 0 : nil
    }

    /// Whether all bytes have arrived. They may still have to be stored.
    var isTransferred: Bool { reported.isOver }

    /// Bytes received, as of the last look at the meter.
    var received: ByteCount { reported.bytes }

    /// Returns what the meter shows and the governor does not know yet, in order.
    ///
    /// A failed transfer is left out: the request's error tells later what the failure means.
    func takeEvents() -> [TransferEvent] {
        let reading = permit.meter.reading
        var events: [TransferEvent] = []
        if let connect = reading.connect, connect != reported.connect {
            reported.connect = connect
            events.append(.connected(connect))
        }
        if reading.wait == nil, reported.wait != nil {
            reported.wait = nil
            events.append(.askedAgain)
        }
        if let wait = reading.wait, wait != reported.wait {
            reported.wait = wait
            let isShared = reading.version == .http2 && permit.isOverSharedOne
            events.append(.answered(wait: wait, length: reading.length.map { Double($0) }, isShared: isShared))
        }
        // Before the answer arrives, a transfer that may come in pieces counts as one that does.
        if reading.asked != reported.asked, reading.asked != nil || reading.wait != nil {
            reported.asked = reading.asked
            events.append(.asked(reading.asked.map { Double($0) }))
        }
        if reading.bytes > reported.bytes {
            reported.bytes = reading.bytes
            events.append(.received(Double(reading.bytes)))
        }
        if reading.outcome == .succeeded, !reported.isOver {
            reported.isOver = true
            if let packets = reading.packets {
                events.append(.packets(packets.received, disordered: packets.disordered, roundTrip: packets.roundTrip))
            }
            events.append(.ended(.completed))
        }
        return events
    }
}
