import HTTP
import Model
import Numbers
import Scheduling

/// A running request, with every wish that it serves.
///
/// This is a class, although only the controller holds it, because the controller reads it thousands of times a second
/// and must not copy it.
final class Operation {
    /// The number of the operation's first attempt. Later operations have higher numbers.
    let number: Int
    /// The request that the operation runs.
    let request: any NetworkRequest
    /// The description of the request for the governor, which schedules transfers.
    let candidate: TransferCandidate
    /// The time when the operation started.
    let start: Duration
    /// The transfers: one, or two after the first one hung. The transfer that finishes first counts.
    private(set) var attempts: [Attempt]
    /// The number of bytes that dropped attempts received. An attempt is dropped when another one replaces it.
    private var droppedBytes: ByteCount = 0
    /// The subjects of the wishes that share this request.
    private(set) var served: Set<Wish.Subject>
    /// Every subject that the operation serves or has served. A subject can leave when its picture is stored, before
    /// the operation ends.
    private(set) var everServed: Set<Wish.Subject>
    /// The highest importance of the subjects that the operation serves.
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

    /// Whether all bytes have arrived. The cache may still have to store the bytes.
    var isTransferred: Bool { attempts.contains(where: \.isTransferred) }

    /// Whether a server has answered, for example with a redirect.
    var isAnswered: Bool { attempts.contains(where: \.isAnswered) }

    /// The number of bytes received, as of the last reading of the meters.
    var received: ByteCount { attempts.reduce(droppedBytes) { $0 + $1.received } }

    /// Returns the attempt with a number. Returns nil after the attempt was dropped.
    func attempt(_ number: Int) -> Attempt? { attempts.first { $0.number == number } }

    /// Adds a second attempt beside the attempt that hangs.
    func add(_ attempt: Attempt) { attempts.append(attempt) }

    /// Cancels and removes an attempt. The other attempt is not affected.
    func drop(_ attempt: Attempt) {
        attempts.removeAll { $0 === attempt }
        droppedBytes += attempt.received
        attempt.task.cancel()
    }

    /// Cancels all attempts. Each attempt still reports its end.
    func cancel() {
        for attempt in attempts { attempt.task.cancel() }
    }

    /// Adds a subject to those that the operation serves.
    func serve(_ subject: Wish.Subject) {
        served.insert(subject)
        everServed.insert(subject)
    }

    /// Removes a subject from those that the operation serves.
    func leave(_ subject: Wish.Subject) { served.remove(subject) }
}

/// One transfer of an operation, with the state that the governor knows.
///
/// This is a class, because the controller reads meters thousands of times a second and must not copy them.
final class Attempt {
    /// The number by which the governor knows the attempt.
    let number: Int
    /// The permission for the transfer, which holds its meter.
    let permit: TransferPermit
    /// The task that runs the transfer. The controller can cancel the task.
    let task: Task<Void, Never>
    private let isUpload: Bool
    private var reported = Reported()

    /// The values that the controller has reported to the governor.
    private struct Reported {
        var connect: Double?
        var wait: Double?
        var asked: ByteCount?
        var bytes: ByteCount = 0
        var packets: TransferMeter.Packets?
        var isOver = false
    }

    /// - Parameter isUpload: whether the transfer sends a file, so that the meter counts packets as they are sent.
    init(_ number: Int, _ permit: TransferPermit, _ task: Task<Void, Never>, isUpload: Bool = false) {
        self.number = number
        self.isUpload = isUpload
        self.permit = permit
        self.task = task
        reported.asked = permit.isInPieces ? 0 : nil
    }

    /// Whether all bytes have arrived. The cache may still have to store the bytes.
    var isTransferred: Bool { reported.isOver }

    /// Whether the head of an answer has arrived, as of the last reading of the meter.
    var isAnswered: Bool { reported.wait != nil }

    /// The number of bytes received, as of the last reading of the meter.
    var received: ByteCount { reported.bytes }

    /// Returns the meter's events since the last call, in order.
    ///
    /// These events never include a failure. The table reports a failure later, when the request's error shows what
    /// happened.
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
        if isUpload, let packets = reading.packets, packets != reported.packets {
            let before = reported.packets
            events.append(
                .packets(
                    packets.received - (before?.received ?? 0),
                    disordered: packets.disordered - (before?.disordered ?? 0), roundTrip: packets.roundTrip))
            reported.packets = packets
        }
        if reading.outcome == .succeeded, !reported.isOver {
            reported.isOver = true
            if !isUpload, let packets = reading.packets {
                events.append(.packets(packets.received, disordered: packets.disordered, roundTrip: packets.roundTrip))
            }
            events.append(.ended(.completed))
        }
        return events
    }
}
