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

/// How many thumbnails are asked for over a link of which nothing has been measured: enough for a fast one to show itself, and
/// on a slow one not more than are soon through.
///
/// Over connections of their own servers send all of that at once (RFC 6928), and a link of some megabits drops the end of it.
/// So there it begins with less, and as a sender does, slowly: with each answer there is room for one more. What is dropped at
/// the beginning is waited for for three round trips. On a short way that is little, and it need not wait for answers: with each
/// connection that stands there is room for two more, and for more in all. Over a secure connection, which all may come to
/// share, answers come one behind the other, however many are asked for.
struct StartingWidth: Sendable {
    /// How many it is by now.
    private(set) var width: Double
    private let isSecure: Bool

    /// So many where answers come over one connection, and where everything is begun anew.
    static let overOne = 8.0
    private static let overMany = 5.0
    private static let most = 12.0
    private static let mostOnLongWay = 8.0
    /// Seconds of a round trip from which on a way is long.
    private static let long = 0.2

    init(isSecure: Bool) {
        width = isSecure ? Self.overOne : Self.overMany
        self.isSecure = isSecure
    }

    /// A connection stands, after so many seconds. Returns how many it is from now on; nil if that is what it was.
    mutating func noteConnected(after seconds: Double) -> Double? {
        seconds < Self.long ? widen(by: 2, to: Self.most) : nil
    }

    /// An answer has begun. Returns how many it is from now on; nil if that is what it was.
    mutating func noteAnswered() -> Double? { widen(by: 1, to: Self.mostOnLongWay) }

    private mutating func widen(by count: Double, to most: Double) -> Double? {
        guard !isSecure, width < most else { return nil }
        width = min(width + count, most)
        return width
    }
}
