import LinkSimulation
import Model
import Synchronization
import Scheduling

/// A governor that records its calls and passes them to another.
struct WatchedGovernor: GovernorWrapper {
    /// The record of calls.
    final class Memory: Sendable {
        /// An entry about a transfer.
        enum Entry: Sendable {
            case started(TransferCandidate)
            case news(TransferEvent)
        }

        private let entries = Mutex<[(transfer: Int, time: Double, entry: Entry)]>([])

        private let news = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))

        private let hanging = Mutex<Set<Int>>([])

        /// Makes the governor report a transfer as hanging.
        func say(hangs transfer: Int) { hanging.withLock { _ = $0.insert(transfer) } }

        fileprivate var ways: [Int: Admission.Way] {
            Dictionary(uniqueKeysWithValues: hanging.withLock { $0 }.map { ($0, .any) })
        }

        func note(_ entry: Entry, of transfer: Int, at now: Double) {
            entries.withLock { $0.append((transfer, now, entry)) }
            news.continuation.yield()
        }

        /// Waits until so many transfers have come to their ends, whichever these were.
        func wait(forEnds count: Int) async {
            news.continuation.yield()
            for await _ in news.stream where entries.withLock({ Self.ends(in: $0) }) >= count { break }
        }

        private static func ends(in entries: [(transfer: Int, time: Double, entry: Entry)]) -> Int {
            Set(entries.compactMap { if case .news(.ended) = $0.entry { $0.transfer } else { nil } }).count
        }

        /// All entries by transfer, in order.
        var all: [Int: [(time: Double, entry: Entry)]] {
            entries.withLock { Dictionary(grouping: $0, by: \.transfer).mapValues { $0.map { ($0.time, $0.entry) } } }
        }
    }

    var inner: any Governor
    let memory: Memory

    init(_ inner: any Governor, _ memory: Memory) {
        (self.inner, self.memory) = (inner, memory)
    }

    mutating func recordStart(
        of transfer: Int, _ candidate: TransferCandidate, over way: Admission.Way, at now: Double
    ) {
        memory.note(.started(candidate), of: transfer, at: now)
        inner.recordStart(of: transfer, candidate, over: way, at: now)
    }

    mutating func record(_ event: TransferEvent, of transfer: Int, at now: Double) {
        memory.note(.news(event), of: transfer, at: now)
        inner.record(event, of: transfer, at: now)
    }

    mutating func takeHanging(at now: Double) -> [Int: Admission.Way] {
        inner.takeHanging(at: now).merging(memory.ways) { own, _ in own }
    }
}
