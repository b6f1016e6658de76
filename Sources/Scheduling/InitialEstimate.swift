/// Estimates a link's capacity from its first answers.
///
/// The first requests are sent together, so the server sends the answers one behind the other, as fast as the narrowest
/// link lets them through. The time between two answers is the time that the link takes for one.
struct InitialEstimate: Sendable {
    private var waits: [Double] = []
    private var isRead = false

    /// The number of answers that an estimate needs.
    private static let enough = 5

    mutating func add(_ wait: Double) {
        if !isRead { waits.append(wait) }
    }

    /// Returns the number of bytes that the link holds at once, as soon as there are enough answers. Returns nil before
    /// and after that.
    ///
    /// - Parameter size: the number of bytes in each answer.
    mutating func takeCapacity(size: Double) -> Double? {
        guard !isRead, waits.count >= Self.enough else { return nil }
        isRead = true
        let sorted = waits.sorted()
        waits = []
        // A lost packet or a slow server may have delayed the last ones.
        let last = sorted.count * 3 / 4
        let spread = max(sorted[last] - sorted[0], 0.001)
        return Double(last) * size * sorted[0] / spread
    }
}

/// Limits the number of thumbnails to request before the first measurement.
///
/// If each transfer has its own connection, servers send all thumbnails at once (RFC 6928), and a link of some megabits
/// per second drops the last ones. The loss takes three round trips to repair. So the width begins small and grows by
/// one with each answer; on a short path, where repairs are fast, also by two with each connection. Over TLS, transfers
/// may share a connection and come one after the other.
struct StartingWidth: Sendable {
    /// The number of thumbnails to request now.
    private(set) var width: Double
    private let isSecure: Bool

    /// The width over one connection, and after a restart.
    static let overOne = 8.0
    private static let overMany = 5.0
    private static let most = 12.0
    private static let mostOnLongPath = 8.0
    /// The round trip in seconds from which a path counts as long.
    private static let long = 0.2

    init(isSecure: Bool) {
        width = isSecure ? Self.overOne : Self.overMany
        self.isSecure = isSecure
    }

    /// Records a new connection. Returns the new width, or nil if the width has not grown.
    mutating func recordConnect(after seconds: Double) -> Double? {
        seconds < Self.long ? widen(by: 2, to: Self.most) : nil
    }

    /// Records an answer. Returns the new width, or nil if the width has not grown.
    mutating func recordAnswer() -> Double? { widen(by: 1, to: Self.mostOnLongPath) }

    private mutating func widen(by count: Double, to most: Double) -> Double? {
        guard !isSecure, width < most else { return nil }
        width = min(width + count, most)
        return width
    }
}
