/// What came all at once, because it had waited for a packet that was lost.
///
/// The system keeps what came behind such a packet, and hands it over with it: for a moment that is several times what the line
/// carries. It came during the silence before, and is counted as if it had taken all of that time.
struct BurstArrivals: Sendable {
    private var silences: [(begin: Double, end: Double)] = []

    /// More than these do not end within what is measured at once.
    private static let most = 32

    /// Nothing was seen of a transfer meanwhile, and then all of it.
    mutating func note(from begin: Double, to end: Double) {
        silences.append((begin, end))
        if silences.count > Self.most { silences.removeFirst() }
    }

    /// Since when has been coming what is counted as delivered since then.
    func beginning(of time: Double) -> Double {
        silences.lazy.filter { $0.end > time }.map(\.begin).reduce(time, min)
    }
}
