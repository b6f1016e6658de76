import Dispatch
import Glibc

/// Sends bytes to the terminal without waiting for the terminal.
@MainActor
final class OutputQueue {
    private let descriptor: Int32
    /// The pieces to write. The queue does not join pieces, because pictures are large.
    private var pieces: [[UInt8]] = []
    /// The index of the first unfinished piece, and the number of its bytes already written.
    private var (next, offset) = (0, 0)
    /// Fires when the terminal accepts more bytes; nil unless bytes are waiting.
    private var source: (any DispatchSourceWrite)?
    /// Whether writing has failed for good.
    private var isGone = false
    /// Called when the terminal has accepted all bytes.
    var onIdle: () -> Void = {}
    /// Called when the terminal is gone.
    var onGone: () -> Void = {}
    private var rate = DrainRate()
    /// Returns the time of any clock, in nanoseconds.
    private let now: () -> UInt64

    init(_ descriptor: Int32, now: @escaping () -> UInt64 = { DispatchTime.now().uptimeNanoseconds }) {
        self.descriptor = descriptor
        self.now = now
    }

    /// The estimated number of bytes that the terminal accepts within half a second. Sending more would delay the next
    /// frame, which waits until the terminal has accepted all earlier bytes.
    var mostInHalfASecond: Int { rate.mostInHalfASecond(at: now()) }

    /// The nanoseconds until ``mostInHalfASecond`` may grow; nil if it grows only after a new measurement.
    var nextIncrease: UInt64? { rate.nextIncrease(at: now()) }

    /// Whether the terminal has accepted all bytes.
    var isIdle: Bool { pieces.isEmpty }

    /// Sends bytes. The queue keeps bytes that the terminal does not accept yet.
    func send(_ bytes: [UInt8]) { send([bytes]) }

    /// Sends several pieces of bytes in order.
    func send(_ more: [[UInt8]]) {
        let wasIdle = isIdle
        pieces += more.lazy.filter { !$0.isEmpty }
        if wasIdle, !isIdle { flush() }
    }

    /// Sends all bytes before returning, when the program leaves the terminal.
    ///
    /// If the terminal does not accept the bytes in time, the queue drops the remaining bytes. Cutting output anywhere
    /// is safe, because the control character CAN ends an incomplete sequence.
    ///
    /// - Parameter short: the bytes that restore the terminal after an incomplete frame.
    func sendAndWait(_ bytes: [UInt8], short: [UInt8]) {
        pieces.append(bytes)
        if !drain() {
            discard()
            pieces = [[0x18] + short]
            _ = drain()
        }
        close()
    }

    /// Writes for up to a second while the terminal accepts bytes. Returns whether no bytes are left.
    private func drain() -> Bool {
        let deadline = ContinuousClock.now + .seconds(1)
        while true {
            writeSome()
            guard !isIdle else { return true }
            var entry = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
            guard ContinuousClock.now < deadline, poll(&entry, 1, 300) > 0 else { return false }
        }
    }

    /// Drops unsent bytes, and stops waiting for the terminal.
    func close() {
        discard()
        setWaiting(false)
    }

    private func discard() {
        pieces = []
        (next, offset) = (0, 0)
    }

    /// Writes as many bytes as the terminal accepts now.
    func flush() {
        writeSome()
        setWaiting(!isIdle)
        if isIdle { onIdle() }
    }

    private func writeSome() {
        while next < pieces.count {
            let count = pieces[next].withUnsafeBytes { bytes in
                let rest = UnsafeRawBufferPointer(rebasing: bytes[offset...])
                return write(descriptor, rest.baseAddress, rest.count)
            }
            if count > 0 {
                rate.recordTaken(count, at: now())
                offset += count
                guard offset == pieces[next].count else { continue }
                // Free each piece as soon as it is written.
                pieces[next] = []
                (next, offset) = (next + 1, 0)
                continue
            }
            switch errno {
            case EINTR: continue
            case EAGAIN: return rate.recordFull(at: now())
            default:
                discard()
                isGone = true
                onGone()
                return
            }
        }
        rate.recordIdle()
        discard()
    }

    private func setWaiting(_ shall: Bool) {
        guard shall != (source != nil) else { return }
        if isGone { source?.silence() } else { source?.cancel() }
        source = nil
        guard shall else { return }
        let source = DispatchSource.makeWriteSource(fileDescriptor: descriptor, queue: .main)
        source.setEventHandler { [weak self] in MainActor.assumeIsolated { self?.flush() } }
        source.resume()
        self.source = source
    }
}

/// Measures how fast a terminal accepts bytes. The caller states the time.
///
/// Bytes that the terminal accepts at once say little about its speed, because they go into buffers of unknown size.
/// Full buffers accept exactly as many bytes as the line transfers.
struct DrainRate {
    /// The measured bytes per second; nil while the terminal causes no waiting.
    private var bytesPerSecond: Double?
    /// The time of the last measurement.
    private var measured: UInt64 = 0
    /// The bytes that the terminal accepted while the queue waited, and the seconds of that wait.
    private var taken: (bytes: Double, seconds: Double) = (0, 0)
    /// The time up to which `taken` includes the current wait; nil while no bytes wait.
    private var counted: UInt64?
    /// The bytes that the terminal accepted at once, within the second that started at the time `begun`.
    private var atOnce: (bytes: Int, begun: UInt64) = (0, 0)

    /// The fewest bytes for a measurement. With fewer bytes, a brief pause of the terminal would distort the result.
    private static let least = 16_384.0
    /// The number of bytes after which earlier bytes count half.
    private static let memory = 131_072.0
    /// More bytes than any buffer accepts at once. A terminal that accepts so many bytes within a second is fast.
    private static let plenty = 131_072
    /// The estimate doubles after this number of nanoseconds without a wait.
    private static let quietPeriod: UInt64 = 5_000_000_000
    /// The maximum number of times that the estimate may double.
    private static let mostDoublings: UInt64 = 2

    /// Returns an estimate of the bytes that the line transfers within half a second.
    ///
    /// The estimate doubles after five seconds without waiting and again after ten, so that Vitrine tries and measures
    /// larger pieces.
    func mostInHalfASecond(at now: UInt64) -> Int {
        guard let bytesPerSecond else { return .max }
        return Int(min(bytesPerSecond * Double(1 << doublings(at: now)) / 2, 1e15))
    }

    /// Returns the nanoseconds until the estimate doubles; nil if it does not double.
    func nextIncrease(at now: UInt64) -> UInt64? {
        guard bytesPerSecond != nil, doublings(at: now) < Self.mostDoublings else { return nil }
        return Self.quietPeriod - (now &- measured) % Self.quietPeriod
    }

    private func doublings(at now: UInt64) -> UInt64 { min(Self.mostDoublings, (now &- measured) / Self.quietPeriod) }

    /// Records that the terminal accepts no more bytes for now.
    ///
    /// - Parameter now: the time in nanoseconds of any clock.
    mutating func recordFull(at now: UInt64) {
        if counted == nil { counted = now }
    }

    /// Records the number of bytes that the terminal has accepted.
    mutating func recordTaken(_ bytes: Int, at now: UInt64) {
        guard let counted else { return recordTakenAtOnce(bytes, now) }
        self.counted = now
        taken.bytes += Double(bytes)
        // Count at most a second, because a pause by the user does not mean that the line is slow.
        taken.seconds += min(Double(now &- counted) / 1e9, 1)
        if taken.bytes > Self.memory { taken = (taken.bytes / 2, taken.seconds / 2) }
        guard taken.bytes >= Self.least else { return }
        bytesPerSecond = taken.bytes / max(taken.seconds, 0.001)
        measured = now
    }

    /// Records that the terminal has accepted all bytes.
    mutating func recordIdle() { counted = nil }

    private mutating func recordTakenAtOnce(_ bytes: Int, _ now: UInt64) {
        if now &- atOnce.begun > 1_000_000_000 { atOnce = (0, now) }
        atOnce.bytes += bytes
        guard atOnce.bytes >= Self.plenty else { return }
        bytesPerSecond = nil
        taken = (0, 0)
    }
}
