/// When bytes were seen to come, and how many must have come since that nobody sees yet.
///
/// Over TLS they are seen when their record is whole. On a slow line that is half a second in the coming, and what is asked for
/// when it is there is asked for late; what is asked for much sooner is in the way of what the user opens meanwhile. A record is
/// seen as its last byte comes, so from one to another it is known how fast they come, and so how far the next one is.
struct TLSRecordDelay: Sendable {
    /// Bytes that have come and not been seen, as long as there is something to come; 0 while nothing tells.
    private(set) var unseen = 0.0
    private var last: [(time: Double, delivered: Double)] = []

    /// So many tell how fast they come.
    private static let most = 9
    /// What most servers put into a record of TLS, and the most that there can be (RFC 8446).
    static let record = 16_384.0

    /// Notes how much has been seen in all by now.
    mutating func note(_ delivered: Double, at now: Double) {
        unseen = 0
        if last.last?.time == now { last.removeLast() }
        last.append((now, delivered))
        if last.count > Self.most { last.removeFirst() }
    }

    /// Something is asked for after a pause, in which nothing was to come: it counts as if it had not been.
    mutating func noteBeginning(_ delivered: Double, at now: Double) {
        unseen = 0
        guard let newest = last.last else { return note(delivered, at: now) }
        for index in last.indices { last[index].time += now - newest.time }
    }

    /// Lets time pass.
    mutating func advance(to now: Double) {
        guard last.count > 2, let first = last.first, let newest = last.last, newest.time > first.time else { return }
        let rate = (newest.delivered - first.delivered) / (newest.time - first.time)
        unseen = min(max(0, now - newest.time) * rate, Self.record)
    }
}
