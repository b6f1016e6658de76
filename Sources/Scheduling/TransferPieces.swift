/// In what pieces something large is asked for.
///
/// Many connections begin as many times as fast as one, and where a packet gets lost one of them is slowed down and not all
/// that is to come. And what comes in pieces can stop, and go on, without anything being thrown away: nothing more is asked
/// for, and the connections stay.
public struct TransferPieces: Hashable, Sendable {
    /// How many bytes are to be asked for and not here.
    public let window: Double
    /// Bytes of one piece.
    public let size: Double

    /// So many are under way at once at most.
    public static let most = 24
    /// As much as a server sends over a new connection before it has heard of the first of it (RFC 6928), about; and no more
    /// than is soon through, or one that is late is waited for by all the others.
    private static let sizes = 16_384.0...262_144.0

    /// Pieces of such a size that so many bytes are under way with as many as there may be.
    init(window: Double, of most: Double) {
        self.window = window
        size = min(max(most / Double(Self.most), Self.sizes.lowerBound), Self.sizes.upperBound)
    }

    /// Seconds until so many bytes are through over connections that have to be made: with TCP, TLS and the request three round
    /// trips, and one more each time that what a server sends in one has doubled (RFC 6928: ten packets at first).
    static func time(of bytes: Double, roundTrip: Double) -> Double {
        let piece = bytes / Double(most)
        return roundTrip * (4 + Double((1 + piece / 14_600).exponent))
    }

    /// All at once.
    static let unlimited = TransferPieces(window: .infinity, of: .infinity)
}
