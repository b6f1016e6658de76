/// What the first answers say of a link before anything has been measured.
///
/// The first things are asked for at once, so the server sends them one behind the other, as fast as the narrowest part of
/// the way lets them through. How far apart they come is how long it takes to carry them.
struct InitialEstimate: Sendable {
    private var waits: [Double] = []
    private var isRead = false

    /// So many tell.
    private static let enough = 5

    mutating func add(_ wait: Double) {
        if !isRead { waits.append(wait) }
    }

    /// The bytes that fit into the link, once, when enough has come to tell; nil before and after.
    ///
    /// - Parameter size: what each answer brings.
    mutating func capacity(size: Double) -> Double? {
        guard !isRead, waits.count >= Self.enough else { return nil }
        isRead = true
        let sorted = waits.sorted()
        waits = []
        // The last of them may have been held up by something else: a packet that was lost, a server that thought.
        let last = sorted.count * 3 / 4
        let spread = max(sorted[last] - sorted[0], 0.001)
        return Double(last) * size * sorted[0] / spread
    }
}
