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
