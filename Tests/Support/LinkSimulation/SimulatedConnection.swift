import Scheduling

/// One connection's sender: slow start with HyStart, congestion avoidance, one cut for each window that had losses, and what
/// it has to send, several answers at once where they share it.
final class SimulatedConnection {
    /// An answer that is being sent.
    struct Stream {
        let transfer: Int
        var rest: Int
        let weight: Double
        /// Goes up by bytes ÷ weight: whose is least is served next.
        var served: Double
    }

    /// How many answers come over a connection at once.
    enum Sharing {
        case one, few, all
    }

    let number: Int
    let sharing: Sharing
    var streams: [Stream] = []
    /// Bytes of streams that were lost and have to be sent again, by transfer.
    var again: [(transfer: Int, bytes: Int)] = []
    var isOpen = false
    /// Segments on their way, and those of them that will come.
    var flying = 0
    private var coming = 0
    private(set) var window = 10.0
    private var threshold = Double.infinity
    private var recoveryEnd = -1.0
    private(set) var lastUse = 0.0
    /// Segments that have come, and how many of them while an earlier one was missing, as far as that has not been told.
    private var (received, disordered) = (0, 0)
    private var missing = 0
    /// With TLS, what has come of a record of which not all is here.
    private var locked: [(transfer: Int, attempt: Int, bytes: Int)] = []
    /// Of which answers the end was the end of a record too: for then there was nothing else to send.
    private var last: Set<Int> = []
    /// What most servers put into a record.
    private static let record = 16_384
    /// Seconds to an acknowledgement, smoothed.
    private var trip = 0.0
    // HyStart: the least delay of eight samples in each round, against the least of all.
    private var leastDelay = Double.infinity
    private var roundDelay = Double.infinity
    private var roundSamples = 0
    private var roundEnd = 0.0
    /// The most that was on its way in a round, and whether more would have been, had the window allowed it.
    private var mostFlying = 0
    private var isHeldBack = false
    private var usageEnd = 0.0

    init(_ number: Int, _ sharing: Sharing) { (self.number, self.sharing) = (number, sharing) }

    var hasRoom: Bool { flying < Int(window) }

    /// "Slow start after idle": what the window was worth is not known any more.
    func wake(at now: Double, roundTrip: Double) {
        if flying == 0, now - lastUse > max(0.3, 2 * roundTrip) { window = min(window, 10) }
        lastUse = now
    }

    /// The next segment: whose, and how many bytes.
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

    /// Sends no more of it.
    func forget(_ transfer: Int) {
        streams.removeAll { $0.transfer == transfer }
        missing -= again.count { $0.transfer == transfer }
        again.removeAll { $0.transfer == transfer }
    }

    func add(_ transfer: Int, bytes: Int, weight: Double) {
        streams.append(
            Stream(transfer: transfer, rest: bytes, weight: weight, served: streams.map(\.served).min() ?? 0))
    }

    /// Something of a record has come. Returns all that can be read now.
    ///
    /// - Parameter left: how much was to come of that answer, as far as it can be read.
    func unlock(
        _ transfer: Int, _ attempt: Int, _ bytes: Int, of left: Int
    ) -> [(transfer: Int, attempt: Int, bytes: Int)] {
        locked.append((transfer, attempt, bytes))
        let come = locked.reduce(0) { $0 + ($1.transfer == transfer ? $1.bytes : 0) }
        let isEnd = (come >= left && last.remove(transfer) != nil) || (coming == 0 && streams.isEmpty && again.isEmpty)
        guard isEnd || locked.reduce(0, { $0 + $1.bytes }) >= Self.record else { return [] }
        defer { locked = [] }
        return locked
    }

    func noteMissing() { missing += 1 }

    /// A segment has been sent that will come.
    func noteComing() { coming += 1 }

    func noteArrival() {
        coming -= 1
        received += 1
        if missing > 0 { disordered += 1 }
    }

    /// What has not been told.
    func takePackets() -> TransferNews {
        defer { (received, disordered) = (0, 0) }
        return .packets(received, disordered: disordered, roundTrip: trip)
    }

    func noteAck(delay: Double, at now: Double) {
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

    /// A sender does not learn that more would fit from what it does not send (Linux, `tcp_is_cwnd_limited`): "if in slow
    /// start, ensure cwnd grows to twice what was ACKed".
    private var isUsed: Bool { isHeldBack || (window < threshold && window < 2 * Double(mostFlying)) }

    /// It has sent what it could.
    func noteSent(at now: Double) {
        if now > usageEnd || flying > mostFlying {
            (mostFlying, isHeldBack) = (flying, !hasRoom)
            usageEnd = now + trip
        }
    }

    func noteLoss(of bytes: Int, _ transfer: Int, isFast: Bool, at now: Double, roundTrip: Double) {
        flying = max(0, flying - 1)
        if now > recoveryEnd {
            threshold = max(2, window * 0.7)
            window = isFast ? threshold : 1
            recoveryEnd = now + roundTrip
        }
        again.append((transfer, bytes))
    }
}
