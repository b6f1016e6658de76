import Model
import Scheduling

/// Shows how a governor uses a simulated link: it fetches thumbnails, until the user opens a photo.
///
///     swift run example-scheduling
///
/// A governor has no clock. The program tells it each event with its time, so each run prints the same.
@main
enum SchedulingExample {
    static func main() {
        var session = Session()
        while !session.isDone { session.step() }
        print("All transfers are complete after \(session.text(session.now)) s.")
    }
}

/// One server behind a link of 1 MB/s and 50 ms, and the transfers from it.
private struct Session {
    private struct Transfer {
        let candidate: TransferCandidate
        let start: Double
        var left: Double
        var isAnswered = false
    }

    private var ticks = 0
    private var queue = TransferQueue()
    private var governor = AdaptiveGovernor()
    private var running: [Int: Transfer] = [:]

    private static let host = "photos.example"
    private static let bandwidth = 1e6
    private static let roundTrip = 0.05
    private static let tick = 0.01
    private static let photo = 200

    /// The simulated time in seconds.
    var now: Double { Double(ticks) * Self.tick }

    var isDone: Bool { queue.isEmpty && running.isEmpty && now > 1 }

    init() {
        for number in 0..<Self.photo { enqueue(number, .visible, .thumbnail) }
    }

    private mutating func enqueue(_ number: Int, _ importance: Importance, _ kind: TransferKind) {
        queue.put(
            number, importance, rank: number,
            as: TransferCandidate(host: Self.host, importance: importance, kind: kind))
    }

    /// Simulates a hundredth of a second.
    mutating func step() {
        ticks += 1
        if ticks == 100 { enqueue(Self.photo, .lookedAt, .photo) }
        start()
        receive()
        for number in governor.advance(to: now, waiting: { queue.count(of: $0) }) {
            guard let transfer = running.removeValue(forKey: number) else { continue }
            governor.record(.ended(.cancelled), of: number, at: now)
            enqueue(number, transfer.candidate.importance, transfer.candidate.kind)
        }
        guard ticks.isMultiple(of: 10) else { return }
        let photo = running[Self.photo] == nil ? "" : ", the photo among them"
        print("\(text(now)) s: \(running.count) transfers run\(photo)")
    }

    private mutating func start() {
        let now = now
        while let (entry, way) = queue.popFirst({ governor.admit($0, at: now) }) {
            governor.recordStart(of: entry.number, entry.candidate, over: way, at: now)
            let size = entry.candidate.kind == .photo ? 400e3 : 12e3
            running[entry.number] = Transfer(candidate: entry.candidate, start: now, left: size)
        }
    }

    /// Divides the link among the transfers whose answers have begun.
    private mutating func receive() {
        // In the order of their numbers, since a dictionary's own order differs between runs.
        for (number, transfer) in running.sorted(by: { $0.key < $1.key })
        where !transfer.isAnswered && now - transfer.start >= 2 * Self.roundTrip {
            running[number]?.isAnswered = true
            governor.record(.connected(Self.roundTrip), of: number, at: now)
            governor.record(
                .answered(wait: Self.roundTrip, length: transfer.left, isShared: false), of: number, at: now)
        }
        let answered = running.filter { $0.value.isAnswered }
        let share = Self.bandwidth * Self.tick / Double(max(1, answered.count))
        for (number, transfer) in answered.sorted(by: { $0.key < $1.key }) {
            let size = transfer.candidate.kind == .photo ? 400e3 : 12e3
            let left = max(0, transfer.left - share)
            running[number]?.left = left
            governor.record(.received(size - left), of: number, at: now)
            if left == 0 {
                governor.record(.ended(.completed), of: number, at: now)
                running[number] = nil
                if transfer.candidate.kind == .photo { print("\(text(now)) s: the photo is complete") }
            }
        }
    }

    func text(_ seconds: Double) -> String {
        let hundredths = Int((seconds * 100).rounded())
        return "\(hundredths / 100).\(hundredths % 100 < 10 ? "0" : "")\(hundredths % 100)"
    }
}
