/// Estimates how many bytes of an incomplete TLS record have arrived. TLS shows a record only when it is complete.
///
/// TLS delivers only whole records. On a slow link a record takes half a second, so a request sent when the record is
/// visible is late, and one sent much earlier delays the photo that the user opens. The last byte of a record makes the
/// record visible, so records show their rate, and the rate shows how much of the next record has arrived.
struct TLSRecordDelay: Sendable {
    /// The estimated number of invisible bytes; 0 until records show a rate.
    private(set) var unseen = 0.0
    private var last: [(time: Double, delivered: Double)] = []

    /// The number of recent deliveries that determine the rate.
    private static let most = 9
    /// The number of bytes that most servers put into a record. The limit is the same (RFC 8446).
    static let record = 16_384.0

    /// Records the total number of bytes delivered.
    mutating func record(_ delivered: Double, at now: Double) {
        unseen = 0
        if last.last?.time == now { last.removeLast() }
        last.append((now, delivered))
        if last.count > Self.most { last.removeFirst() }
    }

    /// Records that transfers begin after a pause, which does not count for the rate.
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
