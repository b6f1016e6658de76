import HTTP
import Model
import Numbers
import Scheduling

/// A request under way, and everyone it serves.
///
/// An object, though nobody shares it: it is looked at thousands of times a second, and is not to be copied each time.
final class Operation {
    /// Goes up with each that begins.
    let number: Int
    let request: any NetworkRequest
    let candidate: TransferCandidate
    let beginning: Duration
    /// What is under way for it: one, or two where the first hangs and is asked for once more. What comes first counts.
    private(set) var attempts: [Attempt]
    /// Bytes of attempts that were given up for another.
    private var receivedInVain: ByteCount = 0
    private(set) var served: Set<Wish.Subject>
    /// All that it serves or has served. What it has stored can be seen before it has ended, and is then not asked of it
    /// any more.
    private(set) var servedEver: Set<Wish.Subject>
    var importance: Importance

    init(
        _ request: any NetworkRequest, _ candidate: TransferCandidate, _ attempt: Attempt, beginning: Duration,
        served: Wish.Subject
    ) {
        number = attempt.number
        self.request = request
        self.candidate = candidate
        self.beginning = beginning
        attempts = [attempt]
        (self.served, servedEver) = ([served], [served])
        importance = candidate.importance
    }

    /// Whether its bytes are through; it may still have to be stored.
    var isThrough: Bool { attempts.contains(where: \.isThrough) }

    /// Bytes that have come, as far as anybody has looked.
    var received: ByteCount { attempts.reduce(receivedInVain) { $0 + $1.received } }

    /// The attempt of that number; nil once it was given up.
    func attempt(_ number: Int) -> Attempt? { attempts.first { $0.number == number } }

    /// Asks once more, beside what is under way.
    func add(_ attempt: Attempt) { attempts.append(attempt) }

    /// Goes on without one of several.
    func giveUp(_ attempt: Attempt) {
        attempts.removeAll { $0 === attempt }
        receivedInVain += attempt.received
        attempt.task.cancel()
    }

    /// Lets go of all that is under way for it. Each attempt ends by itself.
    func cancel() {
        for attempt in attempts { attempt.task.cancel() }
    }

    /// Serves one more.
    func serve(_ subject: Wish.Subject) {
        served.insert(subject)
        servedEver.insert(subject)
    }

    /// Serves one less.
    func leave(_ subject: Wish.Subject) { served.remove(subject) }
}

/// One transfer of an operation, and what its governor knows of it.
///
/// An object, though nobody shares it: meters are read thousands of times a second, and it is not to be copied each time.
final class Attempt {
    /// As the governor knows it.
    let number: Int
    let permit: TransferPermit
    let task: Task<Void, Never>
    /// What the governor has been told.
    private var told = Told()

    private struct Told {
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
        told.asked = permit.isInPieces ? 0 : nil
    }

    /// Whether its bytes are through; it may still have to be stored.
    var isThrough: Bool { told.isOver }

    /// Bytes that have come, as far as anybody has looked.
    var received: ByteCount { told.bytes }

    /// What the meter shows that the governor has not heard of, in the order in which it happened.
    ///
    /// An end that was none, a transfer that broke off, is not among it: what it means is known when the request has said
    /// how it failed.
    func news() -> [TransferNews] {
        let reading = permit.meter.reading
        var news: [TransferNews] = []
        if let connect = reading.connect, connect != told.connect {
            told.connect = connect
            news.append(.connected(connect))
        }
        if reading.wait == nil, told.wait != nil {
            told.wait = nil
            news.append(.askedAgain)
        }
        if let wait = reading.wait, wait != told.wait {
            told.wait = wait
            let isShared = reading.version == .http2 && permit.isOverSharedOne
            news.append(.answered(wait: wait, length: reading.length.map { Double($0) }, isShared: isShared))
        }
        // As long as nothing is known it counts as in pieces, if it may be.
        if reading.asked != told.asked, reading.asked != nil || reading.wait != nil {
            told.asked = reading.asked
            news.append(.asked(reading.asked.map { Double($0) }))
        }
        if reading.bytes > told.bytes {
            told.bytes = reading.bytes
            news.append(.received(Double(reading.bytes)))
        }
        if reading.outcome == .succeeded, !told.isOver {
            told.isOver = true
            if let packets = reading.packets {
                news.append(.packets(packets.received, disordered: packets.disordered, roundTrip: packets.roundTrip))
            }
            news.append(.ended(.completed))
        }
        return news
    }
}
