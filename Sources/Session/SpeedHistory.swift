import Concurrency
import Model
import Numbers

/// The number of bytes received in each of the last sixty seconds.
///
/// The history has no clock: each record moves the time forward. A second without a record counts as empty.
struct SpeedHistory {
    /// The number of seconds that the history keeps.
    static let length = 60

    /// The bytes of each second, in a ring buffer. The last second of the ring is ``newest``.
    private var bytes = [ByteCount](repeating: 0, count: length)
    /// The second of the last record.
    private var newest: Int64?
    /// The total number of bytes at the last record.
    private var received: ByteCount?

    /// Records the total number of bytes received so far.
    mutating func record(received total: ByteCount, at time: Timestamp) {
        move(to: time.seconds)
        // Bytes before the first record belong to none of these seconds.
        if let received, let newest, total > received { bytes[Self.index(newest)] += total - received }
        received = total
    }

    /// The bytes of each second, the oldest first. The last second is not over.
    var seconds: [ByteCount] {
        guard let newest else { return bytes }
        return (0..<Self.length).map { bytes[Self.index(newest &- Int64(clamping: Self.length - 1 - $0))] }
    }

    /// Returns the current speed in bytes per second. The result covers the current and the previous second.
    func speed(at time: Timestamp) -> Double {
        guard let newest, newest == time.seconds else { return 0 }
        let recent = bytes[Self.index(newest)] + bytes[Self.index(newest - 1)]
        return Double(recent) / (1 + Double(time.millisecondsPart) / 1000)
    }

    /// Clears the seconds since the last record. After a large jump of the clock, clears all seconds. After a small
    /// step back, changes nothing until the clock catches up.
    private mutating func move(to second: Int64) {
        guard let newest else { return self.newest = second }
        guard (second &- newest).magnitude < Self.length else {
            bytes = [ByteCount](repeating: 0, count: Self.length)
            return self.newest = second
        }
        guard second > newest else { return }
        for passed in newest + 1...second { bytes[Self.index(passed)] = 0 }
        self.newest = second
    }

    private static func index(_ second: Int64) -> Int {
        Int(clamping: (second % Int64(clamping: length) &+ Int64(clamping: length)) % Int64(clamping: length))
    }
}

/// Says whether a screen shows the transfers.
public struct TrafficInterest: Coalescing, Equatable {
    /// Whether a screen shows the transfers.
    public var isWatched: Bool

    /// Replaces this value by the later value.
    public mutating func merge(_ later: TrafficInterest) {
        self = later
    }
}

/// A request for transfer lists in reports: see ``Activity/watchTraffic()``. The request ends when the object is
/// released.
public final class TrafficWatch: Sendable {
    private let onEnd: @Sendable () -> Void

    init(onEnd: @escaping @Sendable () -> Void) {
        self.onEnd = onEnd
    }

    deinit {
        onEnd()
    }
}
