/// Estimates the bytes of a TLS record that have arrived but are not visible.
///
/// TLS delivers whole records. On a slow link one takes half a second, so a request sent when it is visible is late,
/// and one sent much earlier delays the photo that the user opens. The last byte of a record makes it visible, so
/// records show their rate, and the rate shows how much of the next one has arrived.
struct TLSRecordDelay: Sendable {
    /// The estimate; 0 until records show a rate.
    private(set) var unseen = 0.0
    private var last: [(time: Double, delivered: Double)] = []

    /// The deliveries that show the rate.
    private static let most = 9
    /// The bytes that most servers put into a record; also its limit (RFC 8446).
    static let record = 16_384.0

    /// Records the bytes delivered in all.
    mutating func record(_ delivered: Double, at now: Double) {
        unseen = 0
        if last.last?.time == now { last.removeLast() }
        last.append((now, delivered))
        if last.count > Self.most { last.removeFirst() }
    }

    /// Records that transfers begin after a pause, which does not count.
    mutating func recordBeginning(_ delivered: Double, at now: Double) {
        unseen = 0
        guard let newest = last.last else { return record(delivered, at: now) }
        for index in last.indices { last[index].time += now - newest.time }
    }

    mutating func advance(to now: Double) {
        guard last.count > 2, let first = last.first, let newest = last.last, newest.time > first.time else { return }
        let rate = (newest.delivered - first.delivered) / (newest.time - first.time)
        unseen = min(max(0, now - newest.time) * rate, Self.record)
    }
}
