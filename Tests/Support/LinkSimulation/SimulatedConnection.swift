import Scheduling

/// The sender of a connection, with its answers.
///
/// It has slow start with HyStart, congestion avoidance, and one cut for each window with losses.
final class SimulatedConnection {
    /// An answer that is being sent.
    struct Stream {
        let transfer: Int
        var rest: Int
        let weight: Double
        /// Bytes sent ÷ weight. The stream with the least is served next.
        var served: Double
    }

    /// How many answers share a connection.
    enum Sharing {
        case one, few, all
    }

    let number: Int
    let sharing: Sharing
    var streams: [Stream] = []
    /// Lost bytes to send again, by transfer.
    var again: [(transfer: Int, bytes: Int)] = []
    var isOpen = false
    /// Segments under way, and those of them that will arrive.
    var flying = 0
    private var coming = 0
    private(set) var window = 10.0
    private var threshold = Double.infinity
    private var recoveryEnd = -1.0
    private(set) var lastUse = 0.0
    /// Segments that have arrived since ``takePackets()``, and those of them that arrived while an earlier one was
    /// missing.
    private var (received, disordered) = (0, 0)
    private var missing = 0
    /// With TLS, the received parts of an incomplete record.
    private var locked: [(transfer: Int, attempt: Int, bytes: Int)] = []
    /// Answers whose end is also the end of a record, since nothing else was to send.
    private var last: Set<Int> = []
    /// The usual size of a record.
    private static let record = 16_384
    /// The smoothed seconds to an acknowledgement.
    private var trip = 0.0
    // HyStart compares the least delay of eight samples in each round with the least of all.
    private var leastDelay = Double.infinity
    private var roundDelay = Double.infinity
    private var roundSamples = 0
    private var roundEnd = 0.0
    /// The most segments under way in a round, and whether the window prevented more.
    private var mostFlying = 0
    private var isHeldBack = false
    private var usageEnd = 0.0

    init(_ number: Int, _ sharing: Sharing) { (self.number, self.sharing) = (number, sharing) }

    var canSend: Bool { flying < Int(window) }

    /// Resets the window after a pause ("slow start after idle").
    func wake(at now: Double, roundTrip: Double) {
        if flying == 0, now - lastUse > max(0.3, 2 * roundTrip) { window = min(window, 10) }
        lastUse = now
    }

    /// Returns the next segment's transfer and bytes.
    func next(_ most: Int) -> (transfer: Int, bytes: Int)? {
        if let first = again.first {
            again.removeFirst()
            missing -= 1
            return first
        }
        guard let index = streams.indices.min(by: { streams[$0].served < streams[$1].served }) else { return nil }
        let bytes = min(most, streams[index].rest)
        let transfer = streams[index].transfer
        streams[index].rest -= bytes
        streams[index].served += Double(bytes) / streams[index].weight
        if streams[index].rest == 0 { streams.remove(at: index) }
        if streams.isEmpty { last.insert(transfer) }
        return (transfer, bytes)
    }

    /// Removes a transfer's data.
    func remove(_ transfer: Int) {
        streams.removeAll { $0.transfer == transfer }
        missing -= again.count { $0.transfer == transfer }
        again.removeAll { $0.transfer == transfer }
    }

    func add(_ transfer: Int, bytes: Int, weight: Double) {
        streams.append(
            Stream(transfer: transfer, rest: bytes, weight: weight, served: streams.map(\.served).min() ?? 0))
    }

    /// Adds received bytes of a record. Returns all bytes that are visible now.
    ///
    /// - Parameter left: the bytes of the answer that were not visible before.
    func unlock(
        _ transfer: Int, _ attempt: Int, _ bytes: Int, of left: Int
    ) -> [(transfer: Int, attempt: Int, bytes: Int)] {
        locked.append((transfer, attempt, bytes))
        let received = locked.reduce(0) { $0 + ($1.transfer == transfer ? $1.bytes : 0) }
        let isEnd =
            (received >= left && last.remove(transfer) != nil) || (coming == 0 && streams.isEmpty && again.isEmpty)
        guard isEnd || locked.reduce(0, { $0 + $1.bytes }) >= Self.record else { return [] }
        defer { locked = [] }
        return locked
    }

    func recordMissing() { missing += 1 }

    /// Records a sent segment that will arrive.
    func recordComing() { coming += 1 }

    func recordArrival() {
        coming -= 1
        received += 1
        if missing > 0 { disordered += 1 }
    }

    /// Returns the packets since the last call, as an event.
    func takePackets() -> TransferEvent {
        defer { (received, disordered) = (0, 0) }
        return .packets(received, disordered: disordered, roundTrip: trip)
    }

    func recordAck(delay: Double, at now: Double) {
        trip += (delay - trip) / (trip == 0 ? 1 : 8)
        flying = max(0, flying - 1)
        lastUse = now
        leastDelay = min(leastDelay, delay)
        if window < threshold {
            if now > roundEnd { (roundEnd, roundDelay, roundSamples) = (now + delay, .infinity, 0) }
            roundSamples += 1
            if roundSamples <= 8 { roundDelay = min(roundDelay, delay) }
            let bound = leastDelay + min(max(leastDelay / 8, 0.004), 0.016)
            if roundSamples == 8, window >= 16, roundDelay > bound { threshold = window }
        }
        if isUsed { window += window < threshold ? 1 : 1 / window }
    }

    /// Whether the window was used and may grow (Linux, `tcp_is_cwnd_limited`: "if in slow start, ensure cwnd grows to
    /// twice what was ACKed").
    private var isUsed: Bool { isHeldBack || (window < threshold && window < 2 * Double(mostFlying)) }

    /// Records that the connection has sent what it can.
    func recordSent(at now: Double) {
        if now > usageEnd || flying > mostFlying {
            (mostFlying, isHeldBack) = (flying, !canSend)
            usageEnd = now + trip
        }
    }

    func recordLoss(of bytes: Int, _ transfer: Int, isFast: Bool, at now: Double, roundTrip: Double) {
        flying = max(0, flying - 1)
        if now > recoveryEnd {
            threshold = max(2, window * 0.7)
            window = isFast ? threshold : 1
            recoveryEnd = now + roundTrip
        }
        again.append((transfer, bytes))
    }
}
